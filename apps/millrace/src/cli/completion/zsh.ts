/** Completion for zsh: `eval "$(millrace completion zsh)"`, after compinit. */
import { type Node, valueFlags } from './tree.ts'

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
_millrace() {
  local word next at='' skip=0
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if ((skip)); then skip=0; continue; fi
    case "$word" in
    ${valueFlags(nodes).join('|')}) skip=1; continue ;;
    -*) continue ;;
    esac
    next="\${at:+$at }$word"
    case "$next" in
    ${paths.join('|')}) at="$next" ;;
    esac
  done
  # The value of a flag, as a rule a file.
  if ((skip)); then _files; return; fi
  case "$at" in
${cases.join('\n')}
  esac
  _describe -t commands millrace entries || _files
}
compdef _millrace millrace
`
}

function entry(name: string, description: string): string {
  return `'${name}:${description.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`
}
