/**
 * Debounce and throttle are keys in the tables of unique and idempotency keys, under names that no job can have. The key of a
 * trailing debounce is a unique key that is free again once its job starts, so that calls during the run are not lost. The others
 * run out.
 */
import type { NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import { exclusiveKey, isUntilStart, placeOf } from '../records/exclusiveKey.ts'
import type { Job, JobExtras, Shape } from '../records/job.ts'
import type { NameAndKey } from '../records/rows.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Returns how the job is held against others of its key; undefined for most jobs. */
export function shapeOf({ debounce, throttle }: NewJob): Shape | undefined {
  if (debounce !== undefined) return { by: debounce.mode, key: debounce.key }
  return throttle && { by: 'throttle', key: throttle.key }
}

/** Frees at a job's first start a key that is held until then. No retry, snooze or return to the line takes it back. */
export function freeAtStart(turn: TurnContext, job: Job): void {
  if (job.run > 0 || job.extras === undefined || !isUntilStart(job.extras)) return
  const held = exclusiveKey(job)
  if (held === undefined) return
  turn.effects.uniqueFreed.push({ ...held, seq: job.seq })
  turn.facts.freeUnique(held, job)
}

/** Holds the key of a new job for its period. Until then, repeats are answered with this job. */
export function holdShape(turn: TurnContext, job: Job, { debounce, throttle }: NewJob): void {
  const { shape } = job.extras as JobExtras
  if (shape !== undefined && shape.by !== 'trailing')
    hold(turn, placeOf(job.lane.name, shape), job, debounce?.delay ?? throttle?.period ?? 0)
}

/** Handles a repeat of a leading debounce: the quiet period starts again, up to `maxDelay` after the first job. */
export function holdLonger(turn: TurnContext, first: JobKey, { name, debounce }: NewJob): void {
  if (debounce === undefined) return
  const { key, delay, maxDelay = Number.POSITIVE_INFINITY } = debounce
  hold(turn, placeOf(name, { by: 'leading', key }), first, Math.min(delay, first.enqueuedAt + maxDelay - turn.now.wall))
}

function hold({ effects, facts, now }: TurnContext, { name, key }: NameAndKey, job: JobKey, ms: number): void {
  effects.idempotency.push({ name, key, job, expiresAt: now.wall + ms })
  facts.holdIdempotent(name, key, job)
}

/** Returns when a debounced job that has not started is due after another call: later, up to `maxDelay` after the first call. */
export function pushedTo({ now }: TurnContext, holder: JobKey, { debounce }: NewJob): number {
  const { delay = 0, maxDelay = Number.POSITIVE_INFINITY } = debounce ?? {}
  return Math.min(now.wall + delay, holder.enqueuedAt + maxDelay)
}

/** True if the job may be the answer to a later call, or have been answered by an earlier job. */
export function hasKey({ idempotencyKey, unique, debounce, throttle }: NewJob): boolean {
  return (idempotencyKey ?? unique ?? debounce ?? throttle) !== undefined
}
