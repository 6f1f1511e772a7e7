import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from './cli.ts'

const scripts: Record<string, string> = {}

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) scripts[shell] = `${(await run(['completion', shell])).out}\n`
})

/** What a shell prints, given a script; its errors, too. `undefined` where there is no such shell. */
function shell(name: string, args: readonly string[], script: string): string | undefined {
  const { error, stdout, stderr } = spawnSync(name, [...args, '-c', script], { encoding: 'utf8' })
  return error === undefined ? stdout + stderr : undefined
}

/** What bash offers for a line; the cursor is at its end. */
function offered(line: string): string[] {
  // As readline splits it.
  const words = line.split(/ |(?==)|(?<==)/)
  const script = `${scripts['bash']}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _loopguard loopguard
    printf '%s\\n' "\${COMPREPLY[@]}"`
  return (shell('bash', ['--norc', '-u'], script) ?? '').split('\n').filter((word) => word !== '')
}

describe('bash', () => {
  it.each([
    ['loopguard re', ['replay', 'repair', 'report']],
    ['loopguard --v', ['--version']],
    ['loopguard run --wait', ['--wait-for-jobs']],
    ['loopguard run a.yml --js', ['--json']],
    ['loopguard replay --results ', ['any', 'unchanged']],
    ['loopguard replay --results=un', ['unchanged']],
    ['loopguard replay --results=', ['any', 'unchanged']],
    ['loopguard completion ', ['bash', 'zsh', 'fish']],
    ['loopguard help sh', ['show']],
    ['loopguard show --from', ['--from']],
    // Files, which bash offers itself.
    ['loopguard run ', []],
    ['loopguard repair x.jsonl -o ', []],
    ['loopguard run --load-limit ', []],
  ])('offers for %j %j', (line, expected) => {
    expect(offered(line)).toEqual(expected)
  })

  it('offers every command first', () => {
    expect(offered('loopguard ')).toEqual(expect.arrayContaining(['run', 'replay', 'sessions', 'show', 'repair', 'completion', 'help']))
  })

  it('registers for the command, with files where nothing is offered', () => {
    expect(shell('bash', ['--norc'], `${scripts['bash']}\ncomplete -p loopguard`)).toBe('complete -o default -F _loopguard loopguard\n')
  })
})

describe('zsh and fish', () => {
  it.each([
    ['zsh', "'*--results[whether equal calls count with any results, or only with unchanged ones]:which:(any unchanged)'"],
    ['zsh', "'*--directory[the folder of the logs; default\\: what the row @loopguard/session says]:folder:_files'"],
    ['zsh', "completion) _arguments '*-h[display help for command]' '*--help[display help for command]' '1: :(bash zsh fish)' ;;"],
    ['fish', "complete -c loopguard -f -n __fish_use_subcommand -a run -d 'boot a composition"],
    ['fish', "complete -c loopguard -n '__fish_seen_subcommand_from replay' -l results -x -a 'any unchanged' -d "],
    ['fish', "complete -c loopguard -n '__fish_seen_subcommand_from repair' -s o -l output -r -d "],
  ])('%s is told %s', (name, line) => {
    expect(scripts[name]).toContain(line)
  })

  it('take what they are given, where they are there', () => {
    const replays = shell('fish', ['--no-config'], `${scripts['fish']}\ncomplete -C 'loopguard replay --results '`)
    const offers = replays?.split('\n').map((line) => line.split('\t')[0])
    expect([shell('zsh', ['-n'], scripts['zsh'] ?? '') ?? '', offers ?? ['any', 'unchanged', '']]).toEqual(['', ['any', 'unchanged', '']])
  })
})

it('an unknown shell is a usage error that names those which are known', async () => {
  const { code, err } = await run(['completion', 'tcsh'])
  expect(code).toBe(2)
  expect(err).toContain("command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.")
})
