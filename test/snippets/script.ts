/** The commands of a script for bash, split into words as bash splits them, without running any. */

export interface ShellCommand {
  /** Without quotes. What bash would put in place of `$( )` stands as it is written. */
  readonly words: readonly string[]
  /** Of variables that are set for it, or by it: `NAME=value`. */
  readonly assignments: readonly string[]
}

const ASSIGNMENT = /^\w+=/
const OPERATOR = /^(?:&&|\|\||[;&|()\n])/
const REDIRECTION = /^\d*(?:>>|>&|<&|<|>)(?:\d+|-(?=\s|$))?/

/** @throws SyntaxError for a quote or a bracket without its end */
export function commandsOf(script: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = []
  const heredocs: string[] = []
  let words: string[] = []
  let at = 0
  const end = () => {
    const first = words.findIndex((word) => !ASSIGNMENT.test(word))
    const count = first < 0 ? words.length : first
    if (words.length > 0) commands.push({ words: words.slice(count), assignments: words.slice(0, count) })
    words = []
  }
  const word = () => {
    const read = readWord(script, at)
    commands.push(...read.within.flatMap(commandsOf))
    at = read.end
    return read.text
  }
  while (at < script.length) {
    const rest = script.slice(at)
    const [operator] = OPERATOR.exec(rest) ?? []
    const [blank] = /^(?:[ \t]+|\\\n|#.*)/.exec(rest) ?? []
    const [redirection] = REDIRECTION.exec(rest) ?? []
    if (rest.startsWith('<<')) {
      at += rest.startsWith('<<-') ? 3 : 2
      heredocs.push(word())
    } else if (operator !== undefined) {
      end()
      at += operator.length
      if (operator === '\n') at = afterHeredocs(script, at, heredocs)
    } else if (blank !== undefined) at += blank.length
    else if (redirection !== undefined) {
      at += redirection.length
      if (/[<>]$/.test(redirection)) {
        at += /^ */.exec(script.slice(at))?.[0].length ?? 0
        word()
      }
    } else words.push(word())
  }
  end()
  return commands
}

interface Word {
  readonly text: string
  /** The scripts of `$( )`. */
  readonly within: readonly string[]
  readonly end: number
}

function readWord(script: string, start: number): Word {
  const within: string[] = []
  let text = ''
  let quoted = false
  let at = start
  for (; at < script.length; at++) {
    const letter = script[at] as string
    if (letter === '\\') {
      const next = script[++at] as string
      // Within quotes, a backslash stands before few letters only.
      if (next !== '\n') text += quoted && !/["\\$`]/.test(next) ? `\\${next}` : next
    } else if (letter === '"') quoted = !quoted
    else if (letter === "'" && !quoted) {
      const close = script.indexOf("'", at + 1)
      if (close < 0) throw new SyntaxError(`a quote without its end: ${script.slice(at)}`)
      text += script.slice(at + 1, close)
      at = close
    } else if (script.startsWith('$(', at)) {
      const close = closingOf(script, at + 1)
      within.push(script.slice(at + 2, close))
      text += script.slice(at, close + 1)
      at = close
    } else if (!quoted && /[\s;&|()<>]/.test(letter)) break
    else text += letter
  }
  if (quoted) throw new SyntaxError(`a quote without its end: ${script.slice(start)}`)
  return { text, within, end: at }
}

function closingOf(script: string, open: number): number {
  let depth = 0
  for (let at = open; at < script.length; at++) {
    if (script[at] === '(') depth++
    if (script[at] === ')' && --depth === 0) return at
  }
  throw new SyntaxError(`a bracket without its end: ${script.slice(open)}`)
}

/** Returns the place behind the texts that the commands of the line before read. */
function afterHeredocs(script: string, at: number, heredocs: string[]): number {
  for (const name of heredocs.splice(0)) {
    const close = new RegExp(`^\\t*${name}$`, 'm').exec(script.slice(at))
    if (close === null) throw new SyntaxError(`a text without its end, ${name}`)
    at += close.index + close[0].length + 1
  }
  return at
}
