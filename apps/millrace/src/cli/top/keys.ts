/** The keys of `millrace top`: how a terminal sends them, and what they do. */

/** The rows of the help. The docs have the same table. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['up, down, k, j', 'move the cursor; also Page Up, Page Down, Home and End'],
  ['Enter', 'open the queue: its job names and newest failures; Esc closes it'],
  ['<, >', 'sort by the previous or the next column'],
  ['r', 'reverse the order'],
  ['/', 'show only queues with this string in their name; Esc shows all'],
  ['p', 'pause or resume the queue; asks first'],
  ['t', 'retry all failed jobs of the queue; asks first'],
  ['?', 'show or close this help'],
  ['q, Ctrl-C', 'quit'],
]

/** The keys that change something: `--read-only` switches them off. */
export const CHANGES: ReadonlySet<string> = new Set(['p', 't'])

const SEQUENCES: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '4~': 'end',
  '5~': 'page up',
  '6~': 'page down',
}
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
  '\u001b': 'escape',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are sent as escape sequences.
const KEY = /\u001b(?:\[([\d;]*[~A-Za-z])|O([A-Za-z]))|./gsu

/** Returns the keys in a piece of input: a character, or a name such as `up`. Keys that are not known are left out. */
export function keysIn(input: string): readonly string[] {
  return [...input.matchAll(KEY)].flatMap(([text, bracket, letter]) => {
    const sequence = bracket ?? letter
    if (sequence !== undefined) return SEQUENCES[sequence] ?? []
    return CONTROLS[text] ?? (text < ' ' ? [] : text)
  })
}
