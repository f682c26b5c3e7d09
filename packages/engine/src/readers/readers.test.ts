// Reader threads that do not answer: the call is answered all the same, and the next one has a thread of its own.
import type { Clock } from '@millrace/core'
import { expect, test } from 'vitest'
import { ANSWER_MS, Readers } from './readers.ts'

const SILENT = 'data:text/javascript,export function page() { return new Promise(() => setInterval(() => {}, 1_000_000)) }'

test('list-always-answered: a thread that never answers is given up', async () => {
  const timers: { ms: number; wake: () => void }[] = []
  const clock: Clock = {
    read: () => ({ wall: 0, mono: 0 }),
    setTimer: (ms, wake) => {
      timers.push({ ms, wake })
      return () => {}
    },
  }
  const readers = new Readers({ file: () => new URL(SILENT), options: {} }, 1, clock)
  for (let call = 0; call < 2; call++) {
    const outcome = readers.page({ op: 'list', filter: {}, limit: 1 }).catch((error: Error) => error.message)
    expect(timers[call]?.ms).toBe(ANSWER_MS)
    timers[call]?.wake()
    expect(await outcome).toBe(`no reader thread has answered within ${ANSWER_MS} ms`)
  }
  await readers.close()
})
