/** What does a payload cost on the caller's thread, on its way in and out? */
import { encodeData, newJobFrom } from '@millrace/core'
import type { Bench } from 'tinybench'
import { payloadOf } from '../payload.ts'

const MAX_BYTES = 2 ** 20

export function codec(bench: Bench): void {
  const payload = payloadOf(1)
  const text = JSON.stringify(payload)
  bench.add('120 bytes, encoded', () => void encodeData('data', payload, MAX_BYTES))
  bench.add('a new job of them', () => void newJobFrom('noop', encodeData('data', payload, MAX_BYTES), undefined, undefined))
  bench.add('120 bytes, decoded', () => void JSON.parse(text))
}
