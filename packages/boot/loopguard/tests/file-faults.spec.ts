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
    ['- text\n', ['  cordis.yml:1:3: row 1: expected a map with a `name`, got "text"']],
    ['- id: a\n', ['  cordis.yml:1:3: row 1: expected a `name`, the package or file of a plugin, got nothing']],
    ["- name: ''\n", ['  cordis.yml:1:9: row 1: expected a `name`, the package or file of a plugin, got ""']],
    ['- name: 7\n', ['  cordis.yml:1:9: row 1: expected a `name`, the package or file of a plugin, got 7']],
    ['- name: x\n  confg: {}\n', ['  cordis.yml:2:3: row 1: unknown key `confg`, did you mean `config`?']],
    [
      '- name: x\n  whatever: 1\n',
      [
        '  cordis.yml:2:3: row 1: unknown key `whatever`, expected `id`, `name`, `config`, `group`, `disabled`, `inject`, `intercept`, `isolate`',
      ],
    ],
    ['- { id: a, name: x }\n- { id: a, name: y }\n', ['  cordis.yml:2:9: row 2: the id "a" is taken by the row at cordis.yml:1:9']],
    ['- { id: [a], name: x }\n', ['  cordis.yml:1:9: row 1: expected `id` to be text without a colon, got a list']],
    ['- { id: "a:b", name: x }\n', ['  cordis.yml:1:9: row 1: expected `id` to be text without a colon, got "a:b"']],
    ['- { name: g, group: true, config: 1 }\n', ['  cordis.yml:1:35: expected a list of rows, each with a `name`, got 1']],
    ['- { name: x, config: *nobody }\n', ['  cordis.yml:1:3: row 1: Unresolved alias (the anchor must be set before the alias): nobody']],
    ['- { name: x, name: y }\n', ['  cordis.yml:1:14: Map keys must be unique']],
    ['- name: !what x\n', ['  cordis.yml:1:9: Unresolved tag: !what']],
    [
      '- {}\n- 1\n',
      [
        '  cordis.yml:1:3: row 1: expected a `name`, the package or file of a plugin, got nothing',
        '  cordis.yml:2:3: row 2: expected a map with a `name`, got 1',
      ],
    ],
  ])('is refused with the place, what was expected and what is there: %j', async (text, faults) => {
    expect(await faultsOf(text)).toEqual(faults)
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

  it('may use anchors', async () => {
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
