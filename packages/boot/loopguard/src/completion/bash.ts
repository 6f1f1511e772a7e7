import type { Flag, Vocabulary } from './verbs.ts'

/** Where nothing is offered, bash offers files. */
export function bashCompletion({ program, flags, verbs }: Vocabulary): string {
  const name = `_${program}`
  const all = [{ name: '', flags, choices: verbs.map((verb) => verb.name) }, ...verbs]
  const words = all.map(
    (verb) => `    ${quoted(verb.name)}) options=${quoted(longest(verb.flags))} words=${quoted(verb.choices.join(' '))} ;;`,
  )
  const values = all.flatMap((verb) =>
    verb.flags
      .filter(({ value }) => value !== undefined)
      .map(
        (flag) =>
          `    ${flag.names.map((one) => quoted(`${verb.name} ${one}`)).join('|')}) options= words=${quoted(flag.choices.join(' '))} ;;`,
      ),
  )
  return `# Completion of ${program} for bash. To have it in every shell, put into ~/.bashrc: source <(${program} completion bash)
${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} verb= options= words= i
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
    ${verbs.map((verb) => verb.name).join('|')}) verb=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $verb in
${words.join('\n')}
  esac
  case "$verb $prev" in
${values.join('\n')}
  esac
  if [[ $cur == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F ${name} ${program}
`
}

function longest(flags: readonly Flag[]): string {
  return flags.map(({ names }) => names.at(-1)).join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
