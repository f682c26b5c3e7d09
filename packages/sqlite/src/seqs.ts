/** Sets of row numbers as bytes. Jobs come and go in about one order, so they are kept as runs: a gap, and how many follow. */
import { ByteReader, ByteWriter } from './bytes.ts'

/** From its first number to its last. */
export type Range = readonly [first: number, last: number]

const writer = new ByteWriter(1_024)

/** In order, each once. */
export function rangesOf(seqs: readonly number[]): Range[] {
  const sorted = [...seqs].sort((a, b) => a - b)
  const ranges: Range[] = []
  for (let index = 0; index < sorted.length; ) {
    const first = sorted[index] as number
    let last = first
    while (index < sorted.length && (sorted[index] as number) <= last + 1) last = sorted[index++] as number
    ranges.push([first, last])
  }
  return ranges
}

export function packRanges(ranges: readonly Range[]): Uint8Array {
  writer.clear()
  let end = 0
  for (const [first, last] of ranges) {
    writer.unsigned(first - end)
    writer.unsigned(last - first)
    end = last
  }
  // A copy: a Buffer's own slice would be a view, which the next call overwrites.
  return new Uint8Array(writer.bytes())
}

export function unpackRanges(bytes: Uint8Array): Range[] {
  const reader = new ByteReader(bytes)
  const ranges: Range[] = []
  let end = 0
  while (!reader.done) {
    const first = end + reader.unsigned()
    end = first + reader.unsigned()
    ranges.push([first, end])
  }
  return ranges
}

export function seqsIn(ranges: readonly Range[]): number[] {
  const seqs: number[] = []
  for (const [first, last] of ranges) for (let seq = first; seq <= last; seq++) seqs.push(seq)
  return seqs
}
