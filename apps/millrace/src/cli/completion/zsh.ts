/** Completion for zsh: `eval "$(millrace completion zsh)"`, after compinit. */
import { type Node, namedPaths, valueFlags } from './tree.ts'

export function zshScript(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, flags }) => {
    const entries = [
      ...commands.map(({ name, description }) => entry(name, description)),
      ...flags.flatMap(({ names, description }) => names.map((name) => entry(name, description))),
    ]
    return `    '${path}') entries=(${entries.join(' ')}) ;;`
  })
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  return `#compdef millrace
# millrace completion for zsh: eval "$(millrace completion zsh)", after compinit
# Adds the names that the engine knows.
_millrace_names() {
  local -a names
  names=(\${(f)"$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)"})
  ((\${#names})) && compadd -a names
}
_millrace() {
  local word next at='' flag='' found=1
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$flag" ]]; then flag=''; continue; fi
    case "$word" in
    ${valueFlags(nodes).join('|')}) flag="$word"; continue ;;
    -*) continue ;;
    esac
    next="\${at:+$at }$word"
    case "$next" in
    ${paths.join('|')}) at="$next" ;;
    esac
  done
  case "$flag" in
  '') ;;
  ${valueFlags(nodes, 'named').join('|')}) _millrace_names; return ;;
  # The value of a flag, as a rule a file.
  *) _files; return ;;
  esac
  if [[ "$PREFIX" != -* ]]; then
    case "$at" in
    ${namedPaths(nodes)
      .map((path) => `'${path}'`)
      .join('|')}) _millrace_names && found=0 ;;
    esac
  fi
  case "$at" in
${cases.join('\n')}
  esac
  _describe -t commands millrace entries && found=0
  ((found)) && _files
}
compdef _millrace millrace
`
}

function entry(name: string, description: string): string {
  return `'${name}:${description.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`
}
