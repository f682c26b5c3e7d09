/** Completion for fish: `millrace completion fish | source`. */
import { type Flag, type Node, namedPaths, valueFlags } from './tree.ts'

export function fishScript(nodes: readonly Node[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const named = new Set(namedPaths(nodes))
  const lines = nodes.flatMap(({ path, commands, flags }) => {
    const at = `complete -c millrace -n ${quoted(`__millrace_at ${quoted(path).replaceAll("'", '"')}`)}`
    return [
      ...commands.map(({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`),
      ...(named.has(path) ? [`${at} -f -a '(__millrace_names)'`] : []),
      ...flags.map((flag) => `${at} ${flagText(flag)} -d ${quoted(flag.description)}`),
    ]
  })
  return `# millrace completion for fish: millrace completion fish | source
function __millrace_path
  set -l at ''
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip -eq 1
      set skip 0
      continue
    end
    switch $word
      case ${valueFlags(nodes).map(quoted).join(' ')}
        set skip 1
        continue
      case '-*'
        continue
    end
    set -l next (string trim "$at $word")
    switch $next
      case ${paths.join(' ')}
        set at $next
    end
  end
  echo $at
end
# The names that the engine knows.
function __millrace_names
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  $words[1] __complete -- $words[2..-1] "$current" 2>/dev/null
end
function __millrace_at
  test (__millrace_path) = "$argv[1]"
end
${lines.join('\n')}
`
}

function flagText({ names, takesValue, kind }: Flag): string {
  const texts = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  return `${texts.join(' ')}${kind !== undefined ? " -x -a '(__millrace_names)'" : takesValue ? ' -r' : ' -f'}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
