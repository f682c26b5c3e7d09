/** Makes values safe to show on a terminal: writes every character that a terminal would interpret as an escape. */

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and the controls of bidirectional text, which reorder the
 * characters around them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns the string with these characters written as `\n`, `\x1b` or `\u202e`: no line ends in it, and no style begins. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => SHORT[character] ?? escapeOf(character))
}

function escapeOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** Returns the value as JSON on one line with these characters escaped, because terminals show JSON, too. */
export function jsonText(value: unknown): string {
  return escaped(JSON.stringify(value))
}

/** Returns equivalent JSON on one line without these characters. */
export function escaped(json: string): string {
  return json.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Escapes the output of a formatter, but keeps its styles. The formatter has quoted the characters below U+0020, and no others. */
export function visibleLines(text: string): string {
  return text.replace(OBEYED, (character) => (FORMATTING.has(character) ? character : visible(character)))
}

const FORMATTING: ReadonlySet<string> = new Set(['\n', '\t', '\u001b'])
