/** Whole jobs in one process, as in `endToEnd`: with one feature in use, and in another engine without, by turns. */
import { join } from 'node:path'
import { type Engine, openEngine } from '@millrace/engine'
import { checkCompleted } from '../check.ts'
import { FEATURES, type Feature } from '../features.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Figures, Scenario, Settings } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { type Side, takeTurns } from '../turns.ts'
import { endOf } from './end.ts'

const ROUNDS = 6

interface Subject extends Side {
  /** Ends it, and looks at its file. */
  readonly stop: () => Promise<Figures>
}

export const features: Scenario = async (settings) => {
  const { file, jobs, feature } = settings
  const used = FEATURES[feature]
  if (used === undefined) throw new RangeError(`there is no feature '${feature}': ${Object.keys(FEATURES).join(', ')}`)
  const alone = await start({ ...settings, file: join(file, '..', 'without.db') }, {})
  const beside = await start(settings, used)
  const figures = await takeTurns({ jobs, rounds: ROUNDS, alone, beside })
  await alone.stop()
  return { ...(await beside.stop()), ...figures }
}

async function start({ file, durability, inFlight, concurrency }: Settings, feature: Feature): Promise<Subject> {
  const { open, options, handler, work, call, enqueues, during, again } = feature
  const perCall = call?.jobs ?? 1
  const engine = await openEngine({ file, durability, ...open })
  const enqueuing = enqueues?.(engine) ?? engine
  const beside = await feature.beside?.(engine)
  let called = 0
  let handled = 0
  let wanted = 0
  let allHandled = Promise.withResolvers<void>()
  const count = (more: number): void => {
    handled += more
    if (handled === wanted) allHandled.resolve()
  }
  const worker = engine.work(handler?.(count) ?? noop.handler(() => count(1)), { ...work, concurrency })
  const enqueue = (index: number): Promise<unknown> =>
    call === undefined ? enqueuing.enqueue(noop, payloadOf(index), options?.(index)) : call.make(engine, index * perCall)

  return {
    work: async (least) => {
      const calls = Math.ceil(least / perCall)
      const first = called
      called += calls
      wanted = called * perCall
      allHandled = Promise.withResolvers()
      const over = during?.()
      const stop = startMeter()
      const asking = again === undefined ? undefined : repeat(() => again(engine))
      await keepInFlight(Math.ceil(inFlight / perCall), calls, (index) => enqueue(first + index))
      await allHandled.promise
      await completed(engine)
      await beside?.seen?.(wanted)
      const figures = stop(calls * perCall)
      await asking?.()
      over?.()
      return figures
    },
    stop: async () => {
      await worker.stop()
      await beside?.stop()
      const end = await endOf(engine, file, handled)
      if (open?.retention === undefined && options?.(0).keep !== 0) checkCompleted(file, 'noop', handled, 0, feature.attempt)
      return end
    },
  }
}

/** Until what has been handled is on disk: a question that is asked behind it is answered behind it. */
async function completed(engine: Engine): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await engine.stats()
}

function repeat(ask: () => Promise<unknown>): () => Promise<void> {
  let ending = false
  const asking = (async () => {
    while (!ending) await ask()
  })()
  // It is awaited at the end.
  asking.catch(() => {})
  return () => {
    ending = true
    return asking
  }
}
