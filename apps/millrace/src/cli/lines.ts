/** Reads text line by line as it arrives, and keeps only the newest part in memory. */
import { isUtf8 } from 'node:buffer'
import { withoutMark } from '@millrace/core'
import { UsageError } from './errors.ts'

export interface Line {
  /** The line number, from 1. */
  readonly number: number
  readonly text: string
  /** True if the line is valid UTF-8. Otherwise, some of its bytes were replaced by other characters. */
  readonly exact: boolean
}

/** The maximum length of a line in bytes: more than any job may hold. */
const LINE_MAX = 17 * 2 ** 20
const NEWLINE = 10

/** Yields the lines of each chunk of the stream without waiting for the next chunk. Blank lines are left out. */
export async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<readonly Line[]> {
  let number = 0
  let rest: Buffer[] = []
  let restBytes = 0
  const keep = (part: Buffer) => {
    rest.push(part)
    restBytes += part.length
    if (restBytes > LINE_MAX) throw new UsageError(`line ${number + 1} is longer than ${LINE_MAX} bytes`)
  }
  const end = (): Line => {
    const bytes = Buffer.concat(rest)
    rest = []
    restBytes = 0
    const decoded = bytes.toString('utf8')
    const text = number === 0 ? withoutMark(decoded) : decoded
    return { number: ++number, text: text.endsWith('\r') ? text.slice(0, -1) : text, exact: isUtf8(bytes) }
  }
  for await (const piece of stream as AsyncIterable<Buffer>) {
    const lines: Line[] = []
    let from = 0
    for (let to = piece.indexOf(NEWLINE); to >= 0; to = piece.indexOf(NEWLINE, from)) {
      keep(piece.subarray(from, to))
      lines.push(end())
      from = to + 1
    }
    keep(piece.subarray(from))
    yield lines.filter(isText)
  }
  if (restBytes > 0) yield [end()].filter(isText)
}

function isText({ text }: Line): boolean {
  return text.trim() !== ''
}
