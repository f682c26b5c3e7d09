/** Waits for work to be done: as much real time as handlers need, and none of the virtual clock's. */
import { ACTIVE, type Duration, durationOption, WAITING } from '@millrace/core'
import { countOf } from '@millrace/core/kernel'
import { inRealTime, quiet, type VirtualClock } from './clock.ts'
import { type Leftover, leftoversOf } from './leftovers.ts'
import type { TestWriter } from './writer.ts'

/** The options of `drain`. */
export interface DrainOptions {
  /** The real time that handlers may take together; default 4 s, less than test runners give a test. */
  readonly timeout?: Duration
}

/** The error if work cannot be done, or takes too long. */
export class DrainError extends Error {
  override readonly name = 'DrainError'
  readonly left: readonly Leftover[]

  constructor(what: string, left: readonly Leftover[]) {
    const lines = left.map(({ queue, name, state, count, why }) => `  ${count} ${state} '${name}' in queue '${queue}': ${why}`)
    super([what, ...lines].join('\n'))
    this.left = left
  }
}

interface Settling {
  readonly done: () => boolean
  readonly timeoutMs: number
  /** The start of the error's message: what could not be done. */
  readonly what: string
}

export const DRAIN_MS = 4_000

export async function drain(writer: TestWriter, clock: VirtualClock, { timeout = DRAIN_MS }: DrainOptions = {}): Promise<void> {
  const timeoutMs = durationOption('timeout', timeout)
  await clock.advance(0)
  // The wall clock may have jumped while no timer fired.
  writer.send([])
  await settle(writer, clock, { done: () => isIdle(writer), timeoutMs, what: 'drain has left jobs undone' })
}

/** Resolves when `done`; rejects as soon as nothing can change without the test, or when the time is over. */
export async function settle(writer: TestWriter, clock: VirtualClock, { done, timeoutMs, what }: Settling): Promise<void> {
  let late = false
  let tellLate = () => {}
  const tooLate = new Promise<void>((resolve) => {
    tellLate = resolve
  })
  const forget = inRealTime(timeoutMs, () => {
    late = true
    tellLate()
  })
  try {
    for (;;) {
      let sent = false
      const nextSent = writer.sent().then(() => {
        sent = true
      })
      await quiet()
      if (done()) return
      const { actor } = writer.inThread
      const { tables } = actor
      if (late || (!sent && activeOf(writer) === 0)) {
        const put = actor.hasMail ? '; calls wait until the store takes them: clock.advance' : ''
        throw new DrainError(`${what}${late ? ` within ${timeoutMs} ms` : ''}${put}:`, leftoversOf(tables, clock.read()))
      }
      await Promise.race([nextSent, tooLate])
    }
  } finally {
    forget()
  }
}

function isIdle({ inThread: { actor } }: TestWriter): boolean {
  if (actor.hasMail) return false
  return [...actor.tables.queues.values()].every((queue) => countOf(queue, WAITING) + countOf(queue, ACTIVE) === 0)
}

function activeOf({ inThread: { actor } }: TestWriter): number {
  return [...actor.tables.queues.values()].reduce((sum, queue) => sum + countOf(queue, ACTIVE), 0)
}
