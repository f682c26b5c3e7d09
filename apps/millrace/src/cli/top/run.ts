/** Runs `millrace top` on a terminal: asks the engine now and then, draws, and does what keys say. */
import { retryLost } from '@millrace/client'
import type { Engine, StatsOptions } from '@millrace/engine'
import { now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { many } from '../output/amounts.ts'
import { openScreen } from './screen.ts'
import { begin, type Change, type Effect, type Event, type Frame, step } from './state.ts'
import { viewOf } from './view.ts'

export interface TopOptions {
  readonly everyMs: number
  /** True if no key changes anything. */
  readonly readOnly: boolean
}

/** The part of the stats that a screen shows. */
export const SCREEN = { names: 'percentiles', definitions: 'disputed' } as const
/** The number of failed jobs that an open queue shows at most. */
const FAILURES = 50
/** The interval at which the screen is drawn even if the engine is silent. */
const TICK_MS = 1_000

export async function frameOf(engine: Engine, options: StatsOptions, open?: string): Promise<Frame> {
  const stats = await retryLost(() => engine.stats(options))
  const workers = await retryLost(() => engine.workers())
  if (open === undefined) return { at: now(), stats, workers }
  const { jobs } = await retryLost(() =>
    engine.list({ state: 'failed', queue: open, order: 'finished', limit: FAILURES, payload: 'none', lastRun: true }),
  )
  return { at: now(), stats, workers, failures: { queue: open, jobs } }
}

/** Resolves when the user quits. Rejects if the engine refuses to answer. */
export async function runTop(context: Context, engine: Engine, first: Frame, { everyMs, readOnly }: TopOptions): Promise<void> {
  const { out, signal: ended } = context
  const quit = new AbortController()
  const over = AbortSignal.any([ended, quit.signal])
  let state = begin(first, readOnly)
  let fresh = new AbortController()
  const draw = () => screen.draw(() => viewOf(state, screen.size, out.paint, now()))
  const take = (event: Event) => {
    const next = step(state, event)
    state = next.state
    draw()
    if (next.effect !== undefined) perform(next.effect)
  }
  const perform = (effect: Effect) => {
    if (effect.does === 'quit') quit.abort()
    // A terminal in raw mode sends no signal for Ctrl-C.
    else if (effect.does === 'interrupt') process.emit('SIGINT')
    else if (effect.does === 'refresh') fresh.abort()
    else
      void change(engine, effect).then((note) => {
        fresh.abort()
        take({ type: 'note', ...note })
      })
  }
  const ask = async () => {
    while (!over.aborted) {
      await pause(everyMs, AbortSignal.any([over, fresh.signal]))
      if (over.aborted) return
      fresh = new AbortController()
      take({ type: 'frame', frame: await frameOf(engine, SCREEN, state.open) })
    }
  }
  const tick = async () => {
    while (!over.aborted) {
      await pause(TICK_MS, over)
      draw()
    }
  }
  const screen = openScreen(context, (key) => take({ type: 'key', key }), draw)
  try {
    draw()
    await Promise.race([ask(), tick()])
  } finally {
    screen.close()
  }
}

/** Makes a change that was confirmed, and returns what to say. A refusal ends nothing. */
async function change(engine: Engine, { does, queue }: Change): Promise<{ readonly text: string; readonly bad: boolean }> {
  try {
    if (does === 'retry') return { text: `${many((await engine.redrive({ queue })).count, 'job')} of ${queue} retried`, bad: false }
    await engine.queues[does](queue)
    return { text: `${does}d ${queue}`, bad: false }
  } catch (error) {
    const { message, code = 'INTERNAL' } = error as Error & { readonly code?: string }
    return { text: `${message} (${code})`, bad: true }
  }
}
