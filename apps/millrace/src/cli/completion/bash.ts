/** Completion for bash: `eval "$(millrace completion bash)"`. */
import { type Node, namedPaths, valueFlags } from './tree.ts'

export function bashScript(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, flags }) => {
    const words = [...commands.map(({ name }) => name), ...flags.flatMap(({ names }) => names)]
    return `    '${path}') words='${words.join(' ')}' ;;`
  })
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  return `# millrace completion for bash: eval "$(millrace completion bash)"
# Adds the names that the engine knows. They are quoted: whoever creates a queue chooses its name.
_millrace_names() {
  local line="\${COMP_LINE:0:COMP_POINT}" name head
  local -a typed
  # The words of the line itself, because bash also splits at : and =.
  read -r -a typed <<<"$line"
  typed=("\${typed[@]//[\\"\\']/}")
  [[ "$line" == *[[:space:]] ]] && typed+=('')
  head="\${typed[\${#typed[@]}-1]}"
  head="\${head%"\${head##*[:=]}"}"
  while IFS= read -r name; do
    name="$(printf '%q' "$name")"
    COMPREPLY+=("\${name#"$head"}")
  done < <("\${typed[0]}" __complete -- "\${typed[@]:1}" 2>/dev/null)
}
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word next words='' flag='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ -n "$flag" ]]; then flag=''; continue; fi
    case "$word" in
    ${valueFlags(nodes).join('|')}) flag="$word"; continue ;;
    -*) continue ;;
    esac
    next="\${path:+$path }$word"
    case "$next" in
    ${paths.join('|')}) path="$next" ;;
    esac
  done
  case "$flag" in
  '') ;;
  ${valueFlags(nodes, 'named').join('|')}) _millrace_names; return ;;
  # The value of a flag, as a rule a file.
  *) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" == -* ]]; then return; fi
  case "$path" in
  ${namedPaths(nodes)
    .map((path) => `'${path}'`)
    .join('|')}) _millrace_names ;;
  esac
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _millrace millrace
`
}
