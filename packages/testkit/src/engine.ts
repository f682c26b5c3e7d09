/** The real engine, on this thread, in memory, under a clock that moves only when a test says so. */

import type { Engine, JobOf } from '@millrace/client'
import { systemCalendar } from '@millrace/client/calendar'
import {
  type Codec,
  checkKnown,
  choiceOption,
  type Duration,
  describe,
  type FileUrl,
  integerOption,
  type Logger,
  type OpenOptions,
  OptionTypeError,
  type Redact,
  type RetentionOptions,
  validateOpenOptions,
} from '@millrace/core'
import type { Settings } from '@millrace/core/kernel'
import { InThreadEngine } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'
import type { JobOrName } from '@millrace/worker'
import { quiet, seededRandom, VirtualClock } from './clock.ts'
import { type DrainOptions, drain } from './drain.ts'
import { type EnqueuedMatcher, type ExpectOptions, enqueued, expectEnqueued } from './enqueued.ts'
import { TestFaults } from './faults.ts'
import { faultyStore, type StoreInFile } from './faultyStore.ts'
import { InlineEngine, TrackingEngine } from './inline.ts'
import { TestWriter } from './writer.ts'

/** The options of `createTestEngine`. */
export interface TestEngineOptions {
  /** `'inline'`: jobs run before the call that enqueues them resolves. Default `'queue'`: as in an application. */
  readonly mode?: 'queue' | 'inline'
  /**
   * `'always'`: a run ends after each result that its handler records, and the next one comes to the same place. A handler fails whose code
   * outside of steps does not ask for the same names again. Default `'needed'`: as in an application, after a wait or a failure.
   */
  readonly replay?: 'needed' | 'always'
  /** The time at which the virtual clock starts; default 2030-01-01T00:00:00Z. */
  readonly now?: Date
  /** The seed of all random numbers, such as the jitter of backoffs; default 1. The same seed gives the same numbers. */
  readonly seed?: number
  /** The path or `file:` URL of the database; default in memory. */
  readonly file?: string | FileUrl
  /** The same as in `openEngine`. */
  readonly recovery?: 'immediate' | 'backoff'
  readonly maxQueues?: number
  readonly maxDataBytes?: number
  readonly retention?: RetentionOptions
  readonly defaults?: OpenOptions['defaults']
  readonly codec?: Codec
  readonly redact?: Redact
  readonly logger?: Logger
  /** @internal */
  readonly settings?: Partial<Settings>
  /** @internal Stands between the engine and its store. */
  readonly wrapStore?: (store: StoreInFile) => StoreInFile
}

/** An engine in memory with a virtual clock. */
export interface TestEngine extends AsyncDisposable {
  /** The engine as `openEngine` returns it. */
  readonly engine: Engine
  /** `clock.advance('1h')` moves time, and fires everything due on the way in order: schedules, retries, delays, timeouts, limits. */
  readonly clock: VirtualClock
  readonly faults: TestFaults
  /** @internal */
  readonly inThread: InThreadEngine
  /** The same as `clock.advance`. */
  advance(duration: Duration): Promise<void>
  /**
   * Resolves when no job waits, runs, or is due. It moves no clock: jobs scheduled for later stay.
   *
   * @throws DrainError, which says what is left and why: at once if nothing can change without the test, otherwise after
   * `timeout`
   */
  drain(options?: DrainOptions): Promise<void>
  /** Returns all jobs of a name that the engine has, oldest first, in any state. */
  enqueued<Type extends JobOrName>(job: Type): Promise<readonly JobOf<Type>[]>
  /**
   * Returns the jobs of a name that match; default all.
   *
   * @throws AssertionError (of node:assert) if there is none, or not `count`: with what was enqueued, and the differences of each
   */
  expectEnqueued<Type extends JobOrName>(job: Type, matcher?: EnqueuedMatcher, options?: ExpectOptions): Promise<readonly JobOf<Type>[]>
  /**
   * Acts like a crash of the process. Its workers are gone, and their runs have used an attempt and come again. Unanswered calls
   * get CommitUnknownError, and the engine knows what its store knows. The same `engine` continues: start new workers.
   */
  restart(): Promise<void>
}

const KNOWN: ReadonlySet<string> = new Set<keyof TestEngineOptions>([
  'mode',
  'replay',
  'now',
  'seed',
  'file',
  'recovery',
  'maxQueues',
  'maxDataBytes',
  'retention',
  'defaults',
  'codec',
  'redact',
  'logger',
  'settings',
  'wrapStore',
])
const MEMORY = ':memory:'
const DEFAULT_NOW = new Date(Date.UTC(2030, 0, 1))
const MINUTE_MS = 60_000
const HOST = { host: 'test', pid: 1 }

/**
 * Creates an engine in memory with a clock that the test moves.
 *
 * @example
 * ```ts
 * const t = createTestEngine()
 * await t.engine.enqueue(sendMail, { to: 'ada@example.com' }, { delay: '1h' })
 * await t.advance('1h')
 * await t[Symbol.asyncDispose]()
 * ```
 * @throws OptionTypeError, OptionRangeError
 */
export function createTestEngine(options: TestEngineOptions = {}): TestEngine {
  checkKnown('createTestEngine', options as unknown, KNOWN)
  const { mode, replay, now = DEFAULT_NOW, seed = 1, file: given = MEMORY, settings, wrapStore = (store) => store, ...opened } = options
  const { file, recovery, retention, defaults, maxQueues, maxDataBytes, codec, redact, logger } = validateOpenOptions({
    ...opened,
    file: given,
  })
  const inline = choiceOption('mode', mode ?? 'queue', ['queue', 'inline']) === 'inline'
  const always = choiceOption('replay', replay ?? 'needed', ['needed', 'always']) === 'always'
  const clock = new VirtualClock(timeOf(now))
  const random = seededRandom(integerOption('seed', seed, 0, Number.MAX_SAFE_INTEGER))

  const opening = { file, durability: 'full', random, now: clock.read().wall, ...HOST } as const
  const store = faultyStore(wrapStore(openStore(opening)), file === MEMORY)
  const ruled = { recovery, retention, defaults, maxQueues, maxDataBytes, calendar: systemCalendar, ...settings }
  const warn = logger ? logger.warn.bind(logger) : undefined
  const writer = new TestWriter((alive) => new InThreadEngine({ store, clock, random, settings: ruled, alive, warn }))
  // Silent unless a test asks: tests fail attempts on purpose.
  const setup = {
    maxDataBytes,
    codec,
    redact,
    logger: logger ?? undefined,
    clock,
    quietClock: clock,
    ...HOST,
    local: true,
    replay: { always, strayed: new Set<string>(), planned: () => clock.noteWork() },
  }
  const engine = inline ? new InlineEngine(writer, setup, clock) : new TrackingEngine(writer, setup)
  const faults = new TestFaults(store.faults, clock, writer)

  return {
    engine,
    clock,
    faults,
    get inThread() {
      return writer.inThread
    },
    advance: (duration) => clock.advance(duration),
    drain: (drainOptions) => drain(writer, clock, drainOptions),
    enqueued: (job) => enqueued(engine, job),
    expectEnqueued: (job, matcher = {}, expected = {}) => expectEnqueued(engine, job, matcher, expected),
    async restart() {
      const workers = engine.takeWorkers()
      for (const session of workers.flatMap(({ sessions }) => sessions)) writer.declareDead(session)
      writer.restart()
      await quiet()
      for (const worker of workers) worker.abandon(new Error('the test has restarted the engine'))
      await quiet()
    },
    async [Symbol.asyncDispose]() {
      faults.heal()
      let over = false
      const stopped = engine.stop({ timeout: 0 }).finally(() => {
        over = true
      })
      // A handler that ignores its abort is given up when its grace ends. The loop also waits for things that take real time,
      // such as the end of a thread.
      for (let leftMs = engine.graceMs + MINUTE_MS; leftMs > 0 && !over; leftMs -= MINUTE_MS) await clock.advance(MINUTE_MS)
      await stopped
    },
  }
}

function timeOf(now: unknown): number {
  const time = Object.prototype.toString.call(now) === '[object Date]' ? (now as Date).getTime() : Number.NaN
  if (Number.isNaN(time)) throw new OptionTypeError('now', `now must be a Date, where the test's clock starts, got ${describe(now)}`)
  return time
}
