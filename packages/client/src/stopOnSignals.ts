/** Stops an engine when a signal asks the process to end, and then ends the process. */
import { checkKnown, describe, isError, OptionTypeError, type StopOptions, validateStopOptions } from '@millrace/core'
import { systemClock, within } from '@millrace/worker'
import { stderrLogger } from './defaultLogger.ts'
import type { Engine } from './engine.ts'
import { END_SIGNALS, onSignals } from './signals.ts'

/** The options of `stopOnSignals`. */
export interface StopOnSignalsOptions extends StopOptions {
  /** The signals to listen for; default `SIGTERM`, `SIGINT` and `SIGHUP`. */
  readonly signals?: readonly NodeJS.Signals[]
  /**
   * Called first, and awaited for at most 10 s; default none. Use it to close what enqueues, such as an HTTP server. If it
   * fails or takes longer, the engine is stopped anyway.
   */
  readonly before?: () => unknown
}

const KNOWN: ReadonlySet<string> = new Set(['timeout', 'signals', 'before'])
/** The time limit of `before`, in milliseconds. */
const BEFORE_MS = 10_000
/** The base of the exit code of a process that a signal has ended, as shells report it: 128 plus the signal's number. */
const SIGNAL_EXIT_CODE = 128

/**
 * Handles the first signal: calls `before`, stops the engine (`engine.stop` with the same `timeout`, default 30 s), and
 * ends the process with `process.exitCode`, or 0. If `before` or the stop failed, prints the error and ends the process
 * with 1. A second signal, 500 ms later or more, ends the process at once, with 128 plus the signal's number: running
 * jobs then run again, and the attempt counts.
 *
 * If the process has other listeners for the signal, it is not ended: that is their task. With several engines in one
 * process, the last to stop ends it. If an engine is stopped in another way, its signals are no longer listened for.
 *
 * @example
 * ```ts
 * stopOnSignals(engine, { timeout: '10s', before: () => server.close() })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option
 */
export function stopOnSignals(engine: Engine, options: StopOnSignalsOptions = {}): void {
  const { signals, before, stop } = settingsOf(options)
  let stopping = false
  const end = (signal: NodeJS.Signals, code = process.exitCode) => {
    // Its own listener stays until the exit: without one, a signal that comes in between would decide how the process ends.
    if (process.listenerCount(signal) === 1) process.exit(code)
    leave()
  }
  const stopped = async (signal: NodeJS.Signals) => {
    engine.leaving.abort()
    await reported('the `before` of stopOnSignals', () => limited(before))
    await reported('the stop', () => engine.stop(stop))
    end(signal)
  }
  const leave = onSignals(process, signals, (signal, number) => {
    if (stopping) return end(signal, SIGNAL_EXIT_CODE + number)
    stopping = true
    void stopped(signal)
  })
  engine.servers.add({ close: async () => void (stopping || leave()) })
}

/** Runs a step. If it fails, logs the error and sets the process's exit code to 1. */
async function reported(what: string, step: () => Promise<unknown>): Promise<void> {
  try {
    await step()
  } catch (error) {
    process.exitCode = 1
    stderrLogger.error(`${what} failed`, { stack: isError(error) ? error.stack : String(error) })
  }
}

async function limited(before: StopOnSignalsOptions['before']): Promise<void> {
  const ended = Promise.resolve(before?.()).then(() => true)
  if ((await within(systemClock, BEFORE_MS, ended)) === undefined)
    throw new Error(`it took longer than ${BEFORE_MS / 1_000} s, and the engine stops without it: end streams of your own in it`)
}

function settingsOf(options: StopOnSignalsOptions) {
  checkKnown('stopOnSignals', options, KNOWN, "stopOnSignals(engine, { timeout: '20s' })")
  const { signals = END_SIGNALS, before, ...stop } = options
  if (!Array.isArray(signals) || signals.length === 0 || signals.some((signal) => typeof signal !== 'string'))
    throw new OptionTypeError('signals', `signals must be an array of names such as 'SIGTERM', got ${describe(signals)}`)
  if (before !== undefined && typeof before !== 'function')
    throw new OptionTypeError('before', `before must be a function, got ${describe(before)}`)
  validateStopOptions(stop)
  return { signals, before: before as StopOnSignalsOptions['before'], stop }
}
