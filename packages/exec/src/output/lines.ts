/** The end of a stream's output, for errors and logs. */
import type { Captured } from './excerpt.ts'

export function lastText({ head, tail, truncated }: Captured, length: number): string {
  // Behind a gap only the tail is used, unless there is none.
  const text = (truncated && tail !== '' ? tail : head + tail).trim()
  return text.length <= length ? text : `…${text.slice(text.length - length + 1)}`
}

export function lastLines(captured: Captured, count: number): string[] {
  return lastText(captured, count * LINE_LENGTH)
    .split('\n')
    .slice(-count)
    .filter((line) => line.trim() !== '')
}

const LINE_LENGTH = 1_000
