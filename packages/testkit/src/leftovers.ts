/** Lists what has not been done, and why, from the engine's tables. */
import { ACTIVE, type Now, WAITING } from '@millrace/core'
import {
  type ConsumerGroup,
  countOf,
  isShareFull,
  type KeyBacklog,
  keyRateOf,
  type Lane,
  roomOf,
  type Tables,
  tokenMs,
} from '@millrace/core/kernel'

/** Jobs that a test has left waiting or running. */
export interface Leftover {
  readonly queue: string
  readonly name: string
  readonly state: 'waiting' | 'active'
  readonly count: number
  /** The reason in words, with what to do about it. */
  readonly why: string
}

/** Returns the leftovers of every job name with jobs that wait or run. */
export function leftoversOf(tables: Tables, now: Now): readonly Leftover[] {
  return [...tables.lanesById.values()].flatMap((lane) => leftoversIn(tables, lane, now))
}

function leftoversIn(tables: Tables, lane: Lane, now: Now): Leftover[] {
  const waiting = countOf(lane, WAITING)
  const active = countOf(lane, ACTIVE)
  const place = { queue: lane.queue.name, name: lane.name }
  const left: Leftover[] = []
  if (waiting > 0) left.push({ ...place, state: 'waiting', count: waiting, why: whyWaiting(tables, lane, now).join('; ') })
  if (active > 0) left.push({ ...place, state: 'active', count: active, why: whyActive(tables, lane) })
  return left
}

function whyActive(tables: Tables, lane: Lane): string {
  const unattached = tables.running().some((job) => job.lane === lane && job.session === undefined)
  if (unattached) return "its worker has yet to come back after a fault, which takes some of the clock's time: clock.advance('1s')"
  return 'its handler has not ended: it may wait for real time, or for clock.advance (as an outcome that could not be stored does)'
}

function whyWaiting(tables: Tables, lane: Lane, now: Now): string[] {
  const { queue } = lane
  const { concurrencyLimit, rateLimit, sharedLimit } = queue.settings
  const why: string[] = []
  if (lane.groups.length === 0) why.push('no worker serves it: engine.work([...])')
  else if (lane.groups.every(isPaused)) why.push('its workers are paused: worker.resume()')
  if (queue.paused) why.push(`the queue is paused: engine.queues.resume('${queue.name}')`)
  if (lane.paused) why.push(`the job name is paused: engine.queues.resume('${queue.name}', { job: '${lane.name}' })`)
  const parked = [...tables.keys.backlogsById.values()].filter((backlog) => backlog.lane === lane && backlog.parked > 0)
  why.push(...parked.map((backlog) => whyParked(backlog, now)))
  if (concurrencyLimit !== undefined && countOf(queue, ACTIVE) >= concurrencyLimit)
    why.push(`${concurrencyLimit} of its queue run, which is the queue's concurrencyLimit`)
  if (sharedLimit !== undefined && isShareFull(queue))
    why.push(`${sharedLimit.limit} or more jobs run in the queues of the sharedLimit '${sharedLimit.name}'`)
  const ms = rateLimit === undefined ? 0 : tokenMs(rateLimit, queue.fullMono, now.mono)
  if (ms > 0) why.push(`the queue's rateLimit has its next token in ${Math.ceil(ms)} ms: clock.advance(${Math.ceil(ms)})`)
  return why.length > 0 ? why : ['its workers run as many as they may: see their concurrency, and the weight of the jobs']
}

function whyParked({ key, parked }: KeyBacklog, { mono }: Now): string {
  const perKeyRateLimit = keyRateOf(key)
  if (key.paused) return `${parked} with the concurrencyKey '${key.text}', which is paused`
  const ms = perKeyRateLimit === undefined ? 0 : tokenMs(perKeyRateLimit, key.fullMono, mono)
  if (ms > 0) {
    const next = `the queue's perKeyRateLimit has its next token in ${Math.ceil(ms)} ms: clock.advance(${Math.ceil(ms)})`
    return `${parked} with the concurrencyKey '${key.text}', of which ${next}`
  }
  if (key.queue.settings.keyOrder === 'strict')
    return `${parked} with the concurrencyKey '${key.text}', behind the one that has its turn: the queue's keyOrder`
  if (roomOf(key, mono) <= 0) return `${parked} with the concurrencyKey '${key.text}', of which ${key.active} run: the queue's perKeyLimit`
  return `${parked} with the concurrencyKey '${key.text}', in line behind others of it`
}

function isPaused({ sessions }: ConsumerGroup): boolean {
  return [...sessions].every(({ intro }) => intro.paused === true)
}
