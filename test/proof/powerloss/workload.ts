/** Some time in the life of an engine, by a seed: jobs of all sizes come, run, fail, are cancelled, deleted and forgotten. */
import type { NewJob } from '@millrace/core'
import type { VirtualClock } from '@millrace/testkit'
import { seededRandom } from '@millrace/testkit/internal'
import type { Driver, Held } from './driver.ts'

/** Of the data: none, some bytes, most of a page, several overflow pages. Few are large: what makes a file large makes its replay slow. */
const SIZES = [0, 40, 40, 40, 40, 40, 400, 400, 3_000, 13_000] as const

export interface Workload {
  readonly driver: Driver
  readonly clock: VirtualClock
  readonly seed: number
  readonly steps: number
  /** Copies the log back into the file, or cuts it as well. */
  readonly checkpoint: (how: 'copy' | 'cut') => void
}

export async function work({ driver, clock, seed, steps, checkpoint }: Workload): Promise<void> {
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T

  const job = (): { bytes: number; job: Partial<NewJob> } => {
    const extras: Partial<NewJob>[] = [
      {},
      {},
      {},
      { delay: 1_000 + below(20_000) },
      { priority: below(5) },
      { tags: ['a', `b${below(3)}`], meta: '{"by":"test"}' },
      { idempotencyKey: `k${below(8)}` },
      { unique: { key: `u${below(4)}`, onConflict: pick(['skip', 'error'] as const) } },
      { queue: 'other' },
    ]
    return { bytes: pick(SIZES), job: pick(extras) }
  }
  const some = (most: number) => Array.from({ length: 1 + below(most) }, job)

  const settle = (held: Held) => {
    const { seq, run } = held
    const output = JSON.stringify({ of: held.marker, run, text: 'o'.repeat(pick([0, 10, 10, 10, 10, 5_000])) })
    const error = { name: 'TestError', message: 'as told', stack: 's'.repeat(below(500)) }
    const choice = below(10)
    if (choice < 6) return driver.settle(held, { op: 'complete', seq, run, output }, 'completed', output)
    if (choice < 7) return driver.settle(held, { op: 'fail', seq, run, error, retry: 1_000 }, 'live')
    if (choice < 8) return driver.settle(held, { op: 'fail', seq, run, error, retry: false }, 'failed')
    if (choice < 9) return driver.settle(held, { op: 'giveBack', seq, run }, 'live')
    return driver.settle(held, { op: 'snooze', seq, run, delay: 2_000 }, 'live')
  }
  const settleSome = (most: number) =>
    driver.held
      .filter(() => random() < 0.7)
      .slice(0, most)
      .map(settle)
  const heartbeat = ({ seq, run }: Held) => ({
    command:
      random() < 0.5
        ? ({ op: 'checkpoint', seq, run, value: JSON.stringify({ at: below(1_000) }) } as const)
        : ({ op: 'log', seq, run, lines: [{ at: clock.read().wall, level: 'info', message: 'going on' }] } as const),
    effects: [],
  })
  const manage = () => {
    const known = [...driver.keys.keys()]
    if (known.length === 0) return []
    // The newest most often: the oldest have been forgotten.
    const marker = known[Math.floor(known.length * Math.sqrt(random()))] as number
    return [driver.manage(marker, pick(['cancel', 'cancel', 'delete', 'retry'] as const))]
  }
  const stale = () => {
    const held = driver.held[0]
    if (held === undefined) return []
    return [{ command: { op: 'complete', seq: held.seq, run: held.run + 1, output: '"stale"' } as const, effects: [] }]
  }

  for (let step = 0; step < steps && driver.ended === undefined; step++) {
    if (driver.reattach) await driver.attach()
    const choice = below(20)
    if (choice < 4) await driver.post([driver.enqueue([job()])])
    else if (choice < 6) await driver.post([driver.enqueue(some(12))])
    // A turn of many commands: one commit for all.
    else if (choice < 9) await driver.post([driver.enqueue(some(3)), ...settleSome(4), driver.enqueue([job()]), ...manage(), ...stale()])
    else if (choice < 13) await driver.post(settleSome(8))
    else if (choice < 14) await driver.post(driver.held.slice(0, 3).map(heartbeat))
    else if (choice < 16) await driver.post(manage())
    else if (choice < 18) await clock.advance(pick(['1s', '6s', '6s', '61s'] as const))
    else if (choice < 19) checkpoint('copy')
    else checkpoint('cut')
  }
}
