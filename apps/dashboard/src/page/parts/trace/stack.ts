/** The lines of a stack, those of the user's own code apart from those of libraries. */

export interface StackLine {
  readonly text: string
  /** False for code of libraries and of the runtime. */
  readonly isOwn: boolean
  /** True for a property, such as the cause: a sentence to read, not a place. */
  readonly isProperty?: true
}

/** A frame of Node: "    at charge (file:///srv/charge.ts:41:11)". */
const FRAME = /^\s+at /
/** A property that the engine writes below the frames, or below the message of an error without frames, such as that of a failed `fetch`. */
const PROPERTY = /^\[(?:cause|code|errors)\](?:\[\d+\])?: /
const LIBRARY = /[\\/]node_modules[\\/]|\(node:|at node:|@millrace\/|<anonymous>\)$/
const LINES_MOST = 200

/** Returns the lines below the message. A stack of another language is all own. */
export function stackOf(stack: string | undefined): readonly StackLine[] {
  const lines = (stack ?? '').split('\n').slice(0, LINES_MOST)
  const first = lines.findIndex((line, at) => FRAME.test(line) || (at > 0 && PROPERTY.test(line)))
  if (first === -1) return lines.slice(1).map((text) => ({ text, isOwn: true }))
  return lines.slice(first).map((line) => ({
    text: `  ${line.trim().replace('file://', '')}`,
    isOwn: !LIBRARY.test(line),
    ...(PROPERTY.test(line) && { isProperty: true as const }),
  }))
}

/** Splits off lines of libraries at the end, but for the first of them: they tell little. */
export function shortened(lines: readonly StackLine[]): { readonly shown: readonly StackLine[]; readonly hidden: readonly StackLine[] } {
  const lastOwn = lines.findLastIndex(({ isOwn }) => isOwn)
  const shown = lines.slice(0, Math.max(lastOwn + 2, 3))
  return { shown, hidden: lines.slice(shown.length) }
}
