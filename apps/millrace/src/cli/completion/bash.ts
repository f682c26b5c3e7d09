/** Completion for bash: `eval "$(millrace completion bash)"`. */
import { type Node, valueFlags } from './tree.ts'

export function bashScript(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, flags }) => {
    const words = [...commands.map(({ name }) => name), ...flags.flatMap(({ names }) => names)]
    return `    '${path}') words='${words.join(' ')}' ;;`
  })
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  return `# millrace completion for bash: eval "$(millrace completion bash)"
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word next words='' skip=0 index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if ((skip)); then skip=0; continue; fi
    case "$word" in
    ${valueFlags(nodes).join('|')}) skip=1; continue ;;
    -*) continue ;;
    esac
    next="\${path:+$path }$word"
    case "$next" in
    ${paths.join('|')}) path="$next" ;;
    esac
  done
  # The value of a flag, as a rule a file.
  if ((skip)); then COMPREPLY=($(compgen -f -- "$current")); return; fi
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" != -* && \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _millrace millrace
`
}
