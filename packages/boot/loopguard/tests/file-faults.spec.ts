import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRows } from '../src/load/rows.ts'
import { folder, run } from './cli.ts'

const read = (text: string): Promise<unknown> => readRows(join(folder({ 'cordis.yml': text }), 'cordis.yml'))

/** What the error says, without the name of the folder. */
async function faultsOf(text: string): Promise<string[]> {
  const path = folder({ 'cordis.yml': text })
  const error = await readRows(join(path, 'cordis.yml')).then(
    () => undefined,
    (reason: unknown) => reason as Error,
  )
  return (error?.message ?? 'no fault').replaceAll(`${path}/`, '').split('\n').slice(1)
}

describe('the command, given a file that is no composition', () => {
  it.each([
    ['malformed YAML', 'cordis.yml', "- id: 'a\n", "cordis.yml:2:1: Missing closing 'quote"],
    ['a map instead of a list', 'cordis.yml', 'llm: {}\n', 'cordis.yml:1:1: expected a list of rows, each with a `name`, got a map'],
    ['a file that is not there', 'other.yml', '', 'other.yml did not load\n  there is no such file'],
  ])('exits with 1 and says where: %s', async (_, file, content, expected) => {
    const path = folder({ 'cordis.yml': content })
    const { code, out, err } = await run(['run', file], { cwd: path })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(expected)
  })
})

describe('a composition file', () => {
  it.each([
    ['', ['  cordis.yml:1:1: expected a list of rows, each with a `name`, got nothing']],
    ['just text', ['  cordis.yml:1:1: expected a list of rows, each with a `name`, got "just text"']],
    ['- text\n', ['  cordis.yml:1:3: row-1: expected a map with a `name`, got "text"']],
    ['- id: a\n', ['  cordis.yml:1:3: a: the key `name` is missing: expected the package or file of a plugin']],
    ["- name: ''\n", ['  cordis.yml:1:9: row-1: expected `name` to be the package or file of a plugin, got ""']],
    ['- name: 7\n', ['  cordis.yml:1:9: row-1: expected `name` to be the package or file of a plugin, got 7']],
    ['- name: x\n  confg: {}\n', ['  cordis.yml:2:3: row-1 (x): unknown key `confg` (with the value a map), did you mean `config`?']],
    [
      '- name: x\n  whatever: 1\n',
      [
        '  cordis.yml:2:3: row-1 (x): unknown key `whatever` (with the value 1), expected `id`, `name`, `config`, `group`, `disabled`, `inject`, `intercept`, `isolate`',
      ],
    ],
    ['- { id: a, name: x }\n- { id: a, name: y }\n', ['  cordis.yml:2:9: a (y): the id "a" is taken by the row at cordis.yml:1:9']],
    ['- { id: [a], name: x }\n', ['  cordis.yml:1:9: row-1 (x): expected `id` to be text without a colon, got a list']],
    ['- { id: "a:b", name: x }\n', ['  cordis.yml:1:9: a:b (x): expected `id` to be text without a colon, got "a:b"']],
    [
      '- { name: g, group: true, config: 1 }\n',
      ['  cordis.yml:1:35: row-1 (g): expected `config` to be a list of rows, each with a `name`, got 1'],
    ],
    ['- { name: x, config: *nobody }\n', ['  cordis.yml:1:22: `*nobody` names no anchor: expected `&nobody` before it']],
    ['- &a { name: x, config: [*a] }\n', ['  cordis.yml:1:26: `*a` stands inside of `&a`: a value cannot hold itself']],
    ['- { name: x, name: y }\n', ['  cordis.yml:1:14: Map keys must be unique']],
    ['- name: !what x\n', ['  cordis.yml:1:9: Unresolved tag: !what']],
    [
      '- {}\n- 1\n',
      [
        '  cordis.yml:1:3: row-1: the key `name` is missing: expected the package or file of a plugin',
        '  cordis.yml:2:3: row-2: expected a map with a `name`, got 1',
      ],
    ],
    // Each of these is text, or a number, that would count as true.
    [
      '- { name: x, disabled: no }\n',
      [
        '  cordis.yml:1:24: row-1 (x): expected `disabled` to be true, false or an expression (`!!js …`), got "no", which is text: write `false`',
      ],
    ],
    [
      "- { name: x, disabled: 'true' }\n",
      [
        '  cordis.yml:1:24: row-1 (x): expected `disabled` to be true, false or an expression (`!!js …`), got "true", which is text: write `true`',
      ],
    ],
    [
      '- name: x\n  disabled: ${{ env.OFF }}\n',
      [
        '  cordis.yml:2:13: row-1 (x): expected `disabled` to be true, false or an expression (`!!js …`), got "${{ env.OFF }}": an expression is written `!!js …`',
      ],
    ],
    [
      '- { name: x, disabled: 0 }\n',
      ['  cordis.yml:1:24: row-1 (x): expected `disabled` to be true, false or an expression (`!!js …`), got 0'],
    ],
    [
      '- { name: x, group: yes }\n',
      ['  cordis.yml:1:21: row-1 (x): expected `group` to be true or false, got "yes", which is text: write `true`'],
    ],
    ['- { name: x, inject: tools }\n', ['  cordis.yml:1:22: row-1 (x): expected `inject` to be a list of services, or a map, got "tools"']],
    ['- { name: x, intercept: [] }\n', ['  cordis.yml:1:25: row-1 (x): expected `intercept` to be a map of services, got a list']],
    [
      '- { name: x, isolate: { tools: 1 } }\n',
      ['  cordis.yml:1:23: row-1 (x): expected `isolate` to be a map of services to true or to a name, got a map'],
    ],
    [
      '- { name: x, constructor: 1 }\n',
      [
        '  cordis.yml:1:14: row-1 (x): unknown key `constructor` (with the value 1), expected `id`, `name`, `config`, `group`, `disabled`, `inject`, `intercept`, `isolate`',
      ],
    ],
    [
      '- name: cordis:group\n  config:\n    - { name: x, disable: true }\n    - nam: y\n',
      [
        '  cordis.yml:3:18: row-2 (x): unknown key `disable` (with the value true), did you mean `disabled`?',
        '  cordis.yml:4:7: row-3: unknown key `nam` (with the value "y"), did you mean `name`?',
        '  cordis.yml:4:7: row-3: the key `name` is missing: expected the package or file of a plugin',
      ],
    ],
    [
      '- &a { name: x, wrong: 1 }\n- { <<: *a, id: b }\n',
      [
        '  cordis.yml:1:17: row-1 (x): unknown key `wrong` (with the value 1), did you mean `group`?',
        '  cordis.yml:1:17: b (x): unknown key `wrong` (with the value 1), did you mean `group`?',
      ],
    ],
    ['- { <<: 1, name: x }\n', ['  Merge sources must be maps or map aliases']],
  ])('is refused with the place, what was expected and what is there: %j', async (text, faults) => {
    expect(await faultsOf(text)).toEqual(faults)
  })

  it.each([
    ['- name: a\n\tconfig: 1\n- x: [\n', ['  cordis.yml:2:1: a tab indents this line: YAML is indented with spaces']],
    ['- name: a\n  config:\n\t  x: 1\n\t  y: 2\n- name: b\n', ['  cordis.yml:3:1: a tab indents this line: YAML is indented with spaces']],
    ['-\tname: a\n\tconfig: {}\n', ['  cordis.yml:1:2: a tab indents this line: YAML is indented with spaces']],
    [
      '- name: a\n  config: { model: ${{ env.X }} }\n- name: b\n',
      ['  cordis.yml:2:20: `${` begins a map here: put the text in quotes, or write `!!js process.env.NAME` to read the environment'],
    ],
    ['- name: @acme/tools\n', ['  cordis.yml:1:9: Plain value cannot start with reserved character @: put the text in quotes']],
    ['- name: a\n---\n- name: b\n', ['  cordis.yml:2:1: a second document begins here: expected one list of rows in a file']],
    [
      '- name: a\n  config: [1, 2\n- name: b\n  config: {x: \n',
      [
        '  cordis.yml:3:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
        '  cordis.yml:4:15: Flow map in block collection must be sufficiently indented and end with a }',
      ],
    ],
  ])('that is no YAML is told in one line for each fault, and none for what follows from it: %j', async (text, faults) => {
    expect(await faultsOf(text)).toEqual(faults)
  })

  it('may begin with a byte order mark, and be JSON', async () => {
    expect(await read('\ufeff- name: a\n')).toEqual([{ id: 'row-1', name: 'a' }])
    expect(await read('\ufeff[\n\t{\n\t\t"name": "a"\n\t}\n]\n')).toEqual([{ id: 'row-1', name: 'a' }])
    expect(await faultsOf('\ufeff- nam: a\n')).toContain(
      '  cordis.yml:1:3: row-1: unknown key `nam` (with the value "a"), did you mean `name`?',
    )
  })

  it('gives rows without an id one by their number, in groups too', async () => {
    expect(await read('- name: a\n- { name: cordis:group, group: true, config: [{ name: b }] }\n- { id: mine, name: c }\n')).toEqual([
      { id: 'row-1', name: 'a' },
      { id: 'row-2', name: 'cordis:group', group: true, config: [{ id: 'row-3', name: 'b' }] },
      { id: 'mine', name: 'c' },
    ])
  })

  it('keeps expressions for the loader, and text that other YAML versions take for something else', async () => {
    expect(await read('- { name: a, disabled: !!js "1 > 2", config: { on: yes, at: 012 } }\n')).toEqual([
      { id: 'row-1', name: 'a', disabled: { __jsExpr: '1 > 2' }, config: { on: 'yes', at: 12 } },
    ])
  })

  it('may use anchors, and merge maps with `<<`', async () => {
    expect(await read('- &row { name: a, config: { b: 1 } }\n- { <<: *row, id: c, disabled: true }\n')).toEqual([
      { id: 'row-1', name: 'a', config: { b: 1 } },
      { id: 'c', name: 'a', config: { b: 1 }, disabled: true },
    ])
    expect(await read('- &row { name: a, config: &config { b: 1 } }\n- *row\n- { id: c, name: c, config: *config }\n')).toEqual([
      { id: 'row-1', name: 'a', config: { b: 1 } },
      { id: 'row-2', name: 'a', config: { b: 1 } },
      { id: 'c', name: 'c', config: { b: 1 } },
    ])
  })

  it('may be a folder by mistake', async () => {
    await expect(readRows(folder({}))).rejects.toThrow('is a folder, not a file')
  })
})
