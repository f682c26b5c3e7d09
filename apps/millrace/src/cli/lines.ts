/** Text as it comes, line by line, with no more of it in memory than has just come. */
import { UsageError } from './errors.ts'

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
}

/** In UTF-16 units: more than any job may hold. */
const LINE_MAX = 17 * 2 ** 20

/** The lines of each piece that the stream hands out: what comes slowly is not held back until there is more. Blank ones are left out. */
export async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<readonly Line[]> {
  stream.setEncoding('utf8')
  let number = 0
  let rest = ''
  const lineOf = (text: string): Line => ({ number: ++number, text: text.endsWith('\r') ? text.slice(0, -1) : text })
  for await (const piece of stream as AsyncIterable<string>) {
    const parts = (rest + piece).split('\n')
    rest = parts.pop() as string
    if (rest.length > LINE_MAX) throw new UsageError(`line ${number + parts.length + 1} is longer than ${LINE_MAX} characters`)
    yield parts.map(lineOf).filter(isText)
  }
  if (rest !== '') yield [lineOf(rest)].filter(isText)
}

function isText({ text }: Line): boolean {
  return text.trim() !== ''
}
