/** What does an id cost, as text and back? */
import { formatId, parseId } from '@millrace/core'
import type { Bench } from 'tinybench'

export function ids(bench: Bench): void {
  const key = { seq: 123_456_789, node: 54_321, enqueuedAt: 1_795_000_000_000 }
  const text = formatId(key)
  bench.add('format', () => void formatId(key))
  bench.add('parse', () => void parseId(text))
}
