/** The real engine, on this thread, in memory, under a clock that moves only when a test says so. */

import { Engine, systemCalendar } from '@millrace/client'
import { DEFAULT_RETENTION, type Duration, LIMITS, type Settings, type Store } from '@millrace/core'
import { InThreadEngine } from '@millrace/engine'
import { openStore } from '@millrace/sqlite'
import { quiet, seededRandom, VirtualClock } from './clock.ts'

export interface TestEngineOptions {
  readonly settings?: Partial<Settings>
  readonly maxDataBytes?: number
  readonly seed?: number
  /** Default in memory, where a commit that fails is the end. */
  readonly file?: string
  /** Stands between the engine and its store, to fail when a test says so. */
  readonly wrapStore?: (store: Store) => Store
}

export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly inThread: InThreadEngine
  /** Moves the clock on, and lets everything that this sets off run. */
  advance(duration: Duration): Promise<void>
}

export function createTestEngine({
  settings,
  maxDataBytes = LIMITS.dataBytes,
  seed = 1,
  file = ':memory:',
  wrapStore = (store) => store,
}: TestEngineOptions = {}): TestEngine {
  const clock = new VirtualClock()
  const random = seededRandom(seed)
  const store = wrapStore(openStore({ file, durability: 'full', random, now: clock.read().wall, host: 'test', pid: 1 }))
  const inThread = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar, ...settings },
  })
  const engine = new Engine(inThread.port({ owner: true }), { maxDataBytes, clock, host: 'test', pid: 1, local: true })
  return {
    engine,
    clock,
    inThread,
    async advance(duration) {
      await clock.advance(duration)
      await quiet()
    },
    async [Symbol.asyncDispose]() {
      const stopped = engine.stop({ timeout: 0 })
      // What ignores its abort is given up when its grace ends.
      for (let minute = 0; minute < 3 && inThread.actor.tables.sessions.size > 0; minute++) await clock.advance('1m')
      await stopped
    },
  }
}
