import { type Flag, isPath, type Vocabulary } from './verbs.ts'

export function fishCompletion({ program, flags, verbs }: Vocabulary): string {
  const first = '__fish_use_subcommand'
  const lines = [
    ...flags.map((flag) => optionLine(first, flag)),
    ...verbs.map((verb) => `-f -n ${first} -a ${verb.name} -d ${quoted(verb.description)}`),
    ...verbs.flatMap((verb) => {
      const after = quoted(`__fish_seen_subcommand_from ${verb.name}`)
      const words = verb.choices.length > 0 ? [`-f -n ${after} -a ${quoted(verb.choices.join(' '))}`] : []
      return [...words, ...verb.flags.map((flag) => optionLine(after, flag))]
    }),
  ]
  return `# Completion of ${program} for fish. To have it in every shell: ${program} completion fish > ~/.config/fish/completions/${program}.fish
${lines.map((line) => `complete -c ${program} ${line}\n`).join('')}`
}

function optionLine(condition: string, { names, description, value, choices }: Flag): string {
  const spelled = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
  const takes = value === undefined ? '' : isPath(value) ? ' -r' : ' -x'
  const words = choices.length > 0 ? ` -a ${quoted(choices.join(' '))}` : ''
  return `-n ${condition} ${spelled}${takes}${words} -d ${quoted(description)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
