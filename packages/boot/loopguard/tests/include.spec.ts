import { describe, expect, it } from 'vitest'
import { load } from './load.ts'

const include = (config: string): string => `- { name: '@deepseek-ai/cordis-plugin-include', config: { ${config} } }\n`
const ROW = 'row-1 (@deepseek-ai/cordis-plugin-include)'

describe('an included file', () => {
  it('has its rows started after those of the file that includes it, as those of a group are', async () => {
    const { faults, logged, started } = await load({
      'cordis.yml': `${include('path: sub/rows.yml')}- { name: 'cordis:group', config: [{ name: ./a.mjs, config: { as: member } }] }\n- name: ./a.mjs\n- name: ./b.mjs\n`,
      'sub/rows.yml': '\ufeff- name: ../a.mjs\n  config: { as: included }\n',
    })
    expect({ faults, logged }).toEqual({ faults: [], logged: '' })
    expect(started).toEqual(['a', 'b', 'included', 'member'])
  })

  it('may be left out when its row has rows of its own for that, and may be patched', async () => {
    const initial = 'initial: [{ id: one, name: ./a.mjs }]'
    const { faults, started } = await load({
      'cordis.yml': include(
        `path: absent.yml, ${initial}, patches: [{ id: one, config: { as: patched } }, { insert: [{ name: ./b.mjs }] }]`,
      ),
    })
    expect({ faults, started }).toEqual({ faults: [], started: ['patched', 'b'] })
  })

  it.each([
    ['is not there', include('path: absent.yml'), '', [`  cordis.yml:1:3: ${ROW}: config file not found: absent.yml`]],
    ['is no list', include('path: inc.yml'), 'a: 1\n', [`  inc.yml:1:1: ${ROW}: expected a list of rows, each with a \`name\`, got a map`]],
    ['is no YAML', include('path: inc.yml'), "- name: 'x\n", [`  inc.yml:2:1: ${ROW}: Missing closing 'quote`]],
    [
      'has faults in several rows',
      include('path: inc.yml'),
      '- { name: ./a.mjs, disable: true }\n- nam: x\n- { id: c, name: ./b.mjs, disabled: off }\n',
      [
        '  inc.yml:1:20: row-1:row-1 (./a.mjs): unknown key `disable` (with the value true), did you mean `disabled`?',
        '  inc.yml:2:3: row-1:row-2: unknown key `nam` (with the value "x"), did you mean `name`?',
        '  inc.yml:2:3: row-1:row-2: the key `name` is missing: expected the package or file of a plugin',
        '  inc.yml:3:37: row-1:c (./b.mjs): expected `disabled` to be true, false or an expression (`!!js …`), got "off", which is text: write `false`',
      ],
    ],
    [
      'has rows that do not start',
      include('path: inc.yml'),
      '- { name: ./absent.mjs }\n- name: cordis:group\n  config:\n    - { id: off, name: ./a.mjs, disabled: !!js ctx.no.such }\n',
      [
        '  inc.yml:1:3: row-1:row-1 (./absent.mjs): cannot find the file "./absent.mjs" in',
        '  inc.yml:4:7: row-1:off (./a.mjs): `disabled: !!js ctx.no.such` fails: cannot get property "no" without inject',
      ],
    ],
    [
      'includes itself',
      include('path: inc.yml'),
      include('path: ./inc.yml'),
      ['  inc.yml:1:3: row-1:row-1 (@deepseek-ai/cordis-plugin-include): a cycle of includes: inc.yml, which includes inc.yml'],
    ],
    [
      'includes what includes it',
      include('path: inc.yml'),
      include('path: ./cordis.yml'),
      [
        '  inc.yml:1:3: row-1:row-1 (@deepseek-ai/cordis-plugin-include): a cycle of includes: cordis.yml, which includes inc.yml, which includes cordis.yml',
      ],
    ],
    [
      'is patched where nothing is',
      include('path: inc.yml, patches: [{ id: nobody, disabled: true }]'),
      '- name: ./a.mjs\n',
      [`  cordis.yml:1:3: ${ROW}: patch: entry "nobody" not found`],
    ],
    [
      'is patched with a misspelt key',
      include('path: inc.yml, patches: [{ id: one, disable: true }]'),
      '- { id: one, name: ./a.mjs }\n',
      ['  cordis.yml:1:3: row-1:one (./a.mjs): unknown key `disable` (with the value true), did you mean `disabled`?'],
    ],
    [
      'has no path',
      include('pat: inc.yml'),
      '',
      [`  cordis.yml:1:3: ${ROW}: unknown key \`pat\` (with the value "inc.yml"), did you mean \`path\`?`],
    ],
    [
      'is of another kind',
      include('path: inc.js'),
      '',
      [`  cordis.yml:1:3: ${ROW}: expected \`path\` to end in .yml, .yaml or .json, got "inc.js"`],
    ],
  ])('that %s is told once, with the place', async (_, composition, included, expected) => {
    const { faults, logged } = await load({ 'cordis.yml': composition, ...(included !== '' && { 'inc.yml': included }) })
    expect(faults.map((line) => line.replace(/ in \/.*$/, ' in'))).toEqual(expected)
    expect(logged).toBe('')
  })
})

describe('a composition that starts', () => {
  it('may have guards twice when they are set differently, which is said', async () => {
    const { faults, notes } = await load({
      'cordis.yml': `
        - name: '@loopguard/repeat-tool-reminder'
        - { id: again, name: '@loopguard/repeat-tool-reminder', config: { include: [poll_*], thresholds: [20] } }
        - { name: cordis:group, isolate: { tools: true }, config: [{ name: '@loopguard/repeat-tool-reminder' }] }`,
    })
    expect(faults).toEqual([])
    expect(notes).toEqual([
      'cordis.yml:3:11: again (@loopguard/repeat-tool-reminder): the guard is loaded by row-1 (cordis.yml:2:11) too: what both watch, both act on',
    ])
  })

  it('may have two caps with different limits, which is said', async () => {
    const host = ['llm', 'session', 'tools', 'agent-loop'].map((name) => `- { name: '@loopguard/${name}' }\n`).join('')
    const { faults, notes } = await load({
      'cordis.yml': `${host}- { name: '@loopguard/budget', config: { maxTurnMs: 9 } }\n- { name: '@loopguard/budget', config: { maxAgentMs: 9 } }`,
    })
    expect(faults).toEqual([])
    expect(notes).toEqual([
      'cordis.yml:6:3: row-6 (@loopguard/budget): the guard is loaded by row-5 (cordis.yml:5:3) too: what both watch, both act on',
    ])
  })

  it('reads the environment in expressions, and says which text looks as if it did', async () => {
    process.env['LOOPGUARD_TEST_NAME'] = 'from the environment'
    const { faults, notes, started } = await load({
      'cordis.yml': `
        - { name: ./a.mjs, config: { as: !!js process.env.LOOPGUARD_TEST_NAME } }
        - { id: text, name: ./b.mjs, config: { as: "\${LOOPGUARD_TEST_NAME}", more: [{ url: "http://\${{ env.HOST }}/" }] } }
        - { name: ./a.mjs, disabled: !!js process.env.LOOPGUARD_TEST_NAME !== undefined, config: "\${OFF}" }`,
    })
    delete process.env['LOOPGUARD_TEST_NAME']
    expect({ faults, started }).toEqual({ faults: [], started: ['from the environment', '${LOOPGUARD_TEST_NAME}'] })
    expect(notes).toEqual([
      'cordis.yml:3:11: text (./b.mjs): `config.as` holds "${LOOPGUARD_TEST_NAME}", which is taken literally; to read the environment, write `!!js process.env.LOOPGUARD_TEST_NAME`',
      'cordis.yml:3:11: text (./b.mjs): `config.more[0].url` holds "${{ env.HOST }}", which is taken literally; to read the environment, write `!!js process.env.HOST`',
    ])
  })

  it('says so of a row that does not start as well, since it may be why', async () => {
    const { faults, notes } = await load({
      'cordis.yml': `- { name: '@loopguard/repeat-tool-reminder', config: { thresholds: "\${COUNTS}" } }\n`,
    })
    expect(faults.join('\n')).toContain('must be a list in which each item is an integer >= 2, got "${COUNTS}"')
    expect(notes).toEqual([
      'cordis.yml:1:3: row-1 (@loopguard/repeat-tool-reminder): `config.thresholds` holds "${COUNTS}", which is taken literally; to read the environment, write `!!js process.env.COUNTS`',
    ])
  })
})
