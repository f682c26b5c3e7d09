/**
 * Packs sets of row numbers into bytes. Jobs come and go in roughly one order, so a set is stored as runs: a gap, then the number
 * of rows that follow.
 */
import { ByteReader, ByteWriter } from './bytes.ts'

/** A range of row numbers, both ends included. */
export type Range = readonly [first: number, last: number]

const writer = new ByteWriter(1_024)

/** Returns the ranges in order, with each number once. */
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
  // Copies the bytes: a Buffer's own slice would be a view, which the next call overwrites.
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
