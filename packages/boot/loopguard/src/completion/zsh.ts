import { type Flag, isPath, type Vocabulary } from './verbs.ts'

export function zshCompletion({ program, flags, verbs }: Vocabulary): string {
  const name = `_${program}`
  const described = verbs.map((verb) => `      ${quoted(`${verb.name}:${verb.description.replaceAll(':', String.raw`\:`)}`)}`)
  const rest = verbs.map((verb) => {
    const words = verb.choices.length > 0 ? `1: :(${verb.choices.join(' ')})` : '*: :_files'
    return `    ${verb.name}) _arguments ${[...verb.flags.flatMap(specsOf), words].map(quoted).join(' ')} ;;`
  })
  return `#compdef ${program}
# Completion of ${program} for zsh. To have it in every shell, put into ~/.zshrc: source <(${program} completion zsh)
${name}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${[...flags.flatMap(specsOf), '1: :->verb', '*:: :->rest'].map(quoted).join(' ')}
  case $state in
  verb)
    local -a verbs
    verbs=(
${described.join('\n')}
    )
    _describe command verbs
    ;;
  rest)
    case $line[1] in
${rest.join('\n')}
    esac
    ;;
  esac
}
if [[ $funcstack[1] == ${name} ]]; then
  ${name} "$@"
else
  (( $+functions[compdef] )) || { autoload -U compinit && compinit }
  compdef ${name} ${program}
fi
`
}

/** One for each name; an option that has been typed is offered again only if it is repeatable, which is not known here. */
function specsOf({ names, description, value, choices }: Flag): string[] {
  const text = description.replaceAll(/[[\]\\:]/g, String.raw`\$&`)
  const takes = choices.length > 0 ? `:(${choices.join(' ')})` : isPath(value ?? '') ? ':_files' : ':'
  return names.map((name) => `*${name}[${text}]${value === undefined ? '' : `:${value}${takes}`}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
