/** Values as a terminal may show them: whatever it would obey instead is written out. */

/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and the controls of bidirectional text, which reorder what stands
 * beside them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text with each of them as `\n`, `\x1b` or `\u202e`: no line ends in it, and no style begins. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => SHORT[character] ?? escapeOf(character))
}

function escapeOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** A value as JSON of one line, in which none of them stands as it is: terminals show JSON, too. */
export function jsonText(value: unknown): string {
  return escaped(JSON.stringify(value))
}

/** JSON of one line that says the same without them. */
export function escaped(json: string): string {
  return json.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Lines that a formatter has made, with its styles: it has quoted what is below U+0020, and nothing else. */
export function visibleLines(text: string): string {
  return text.replace(OBEYED, (character) => (FORMATTING.has(character) ? character : visible(character)))
}

const FORMATTING: ReadonlySet<string> = new Set(['\n', '\t', '\u001b'])
