/** The things that can hold the jobs of a queue back, and whether each does now. */
import type { Columns, QueueAnswer, StatsAnswer, Worker } from '../../api/answers.ts'
import { sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { rate } from '../../format/numbers.ts'
import { severityOf, shareText } from '../overview/problems/failures.ts'
import { latenessOf, usualWaitMs } from '../overview/problems/lateness.ts'
import { rateText } from '../overview/queueRows.ts'
import { endedPerSecond } from './history.ts'
import { text } from './text.ts'

const { why } = text

export type CheckName = keyof typeof why.checks
export type Tone = 'good' | 'warn' | 'bad' | 'none'

export interface Check {
  readonly name: CheckName
  readonly tone: Tone
  readonly text: string
}

export interface Inputs {
  readonly queue: QueueAnswer
  readonly stats: StatsAnswer
  /** Undefined until they are known. */
  readonly workers: readonly Worker[] | undefined
  /** The last hour, by minutes. */
  readonly recent: Columns | undefined
}

export interface Diagnosis {
  readonly verdict: string
  readonly note: string
  readonly tone: Tone
  readonly checks: readonly Check[]
}

/** Worst first: what stops jobs, what loses them, what slows them down. */
const CAUSES: readonly CheckName[] = ['workers', 'names', 'failures', 'slots', 'rate', 'keys', 'starts']

export function diagnosisOf(inputs: Inputs): Diagnosis {
  const others = [starts, workersCheck, names, slots, rateCheck].flatMap((check) => check(inputs) ?? [])
  const isHeld = others.some(({ name, tone }) => name !== 'names' && (tone === 'bad' || (tone === 'warn' && name !== 'starts')))
  const checks = [...others, keys(inputs, isHeld), oldest(inputs), failures(inputs)]
  const causes = CAUSES.flatMap((name) => checks.find((check) => check.name === name) ?? [])
  const cause = causes.find(({ tone }) => tone === 'bad') ?? causes.find(({ tone }) => tone === 'warn')
  const { waiting } = inputs.queue.states
  if (cause !== undefined) return { verdict: cause.text.replace(/\.$/, ''), note: noteOf(inputs), tone: cause.tone, checks }
  return { verdict: waiting === 0 ? why.idle : why.well, note: noteOf(inputs), tone: 'good', checks }
}

function noteOf({ queue: { states }, recent }: Inputs): string {
  if (states.waiting === 0 || recent === undefined) return ''
  const ended = endedPerSecond(recent)
  return ended === 0 ? why.stands : why.lasts(duration((states.waiting / ended) * 1_000))
}

function starts({ queue: { paused, pausedJobs, pausedKeys, pausedLeftOut = 0, settings, states }, stats }: Inputs): Check {
  const stops = states.waiting > 0 ? 'bad' : 'warn'
  if (stats.paused) return { name: 'starts', tone: stops, text: why.starts.allPaused }
  if (paused) return { name: 'starts', tone: stops, text: why.starts.paused }
  if (settings.draining) return { name: 'starts', tone: 'warn', text: why.starts.draining }
  if (pausedJobs.length + pausedKeys.length + pausedLeftOut === 0) return { name: 'starts', tone: 'good', text: why.starts.open }
  return { name: 'starts', tone: 'warn', text: why.starts.some(pausedJobs.length, pausedKeys.length) }
}

/** The workers that may take jobs of a queue, as far as the names of its jobs are known. */
export function serving(queue: string, { names, unserved }: StatsAnswer, workers: readonly Worker[]): readonly Worker[] {
  const known = new Set([...names, ...unserved].filter((each) => each.queue === queue).map(({ name }) => name))
  return workers.filter((worker) => takes(worker, queue) && (known.size === 0 || worker.names.some((name) => known.has(name))))
}

/** True if the worker takes jobs of the queue at all. */
export function takes({ queues, draining, paused, away }: Worker, queue: string): boolean {
  return !draining && paused !== true && !away && (queues === null || queues.some((pattern) => matches(pattern, queue)))
}

/** True if a name, or a prefix that ends with an asterisk, stands for the queue. */
function matches(pattern: string, queue: string): boolean {
  return pattern.endsWith('*') ? queue.startsWith(pattern.slice(0, -1)) : pattern === queue
}

function workersCheck({ queue, stats, workers }: Inputs): Check | undefined {
  if (workers === undefined) return undefined
  const found = serving(queue.name, stats, workers)
  const { waiting } = queue.states
  const all = sum(found.map(({ maxConcurrency }) => maxConcurrency))
  const taken = sum(found.map(({ runningWeight }) => runningWeight))
  if (found.length === 0) return { name: 'workers', tone: waiting > 0 ? 'bad' : 'none', text: why.workers.none }
  if (taken >= all && waiting > 0) return { name: 'workers', tone: 'warn', text: why.workers.full(all, found.length) }
  return { name: 'workers', tone: 'good', text: why.workers.free(taken, all, found.length) }
}

function names({ queue: { name }, stats }: Inputs): Check {
  const unserved = stats.unserved.filter(({ queue }) => queue === name)
  const [first] = unserved
  if (first !== undefined) return { name: 'names', tone: 'bad', text: why.names.unserved(first.name, first.waiting, unserved.length - 1) }
  const known = stats.names.filter(({ queue }) => queue === name).length
  return { name: 'names', tone: known === 0 ? 'none' : 'good', text: why.names.served(known) }
}

function slots({ queue: { settings, states, sharedActive = 0 } }: Inputs): Check {
  const { concurrencyLimit: limit, sharedLimit: shared } = settings
  if (shared !== undefined && states.waiting > 0 && sharedActive >= shared.limit)
    return { name: 'slots', tone: 'warn', text: why.slots.shared(sharedActive, shared.limit, shared.name) }
  if (limit === undefined) return { name: 'slots', tone: 'none', text: why.slots.none(states.active) }
  const isFull = states.active >= limit && states.waiting > 0
  return { name: 'slots', tone: isFull ? 'warn' : 'good', text: why.slots[isFull ? 'full' : 'free'](states.active, limit) }
}

/** Starts are not counted by queue. Jobs end as fast as they start, if seen over minutes. */
const USED = 0.85

function rateCheck({ queue: { settings, states, rate: left }, recent }: Inputs): Check {
  const { rateLimit } = settings
  if (rateLimit === undefined) return { name: 'rate', tone: 'none', text: why.rate.none }
  const ended = recent === undefined ? 0 : endedPerSecond(recent)
  const isUsed = states.waiting > 0 && ended >= (USED * rateLimit.limit * 1_000) / rateLimit.period
  const said = why.rate[isUsed ? 'used' : 'free'](rateText(rateLimit), rate(ended))
  return { name: 'rate', tone: isUsed ? 'warn' : 'good', text: left === undefined ? said : `${said} ${why.rate.left(left.tokens)}` }
}

/** Keys are what is left if nothing else holds back jobs that wait. */
function keys({ queue: { settings, states } }: Inputs, isHeld: boolean): Check {
  const { perKeyLimit, perKeyRateLimit, keyOrder } = settings
  const sentences = [
    ...(keyOrder === 'strict' ? [why.keys.strict] : []),
    ...(perKeyLimit === undefined || keyOrder === 'strict' ? [] : [why.keys.each(perKeyLimit)]),
    ...(perKeyRateLimit === undefined ? [] : [why.keys.rate(rateText(perKeyRateLimit))]),
  ]
  if (sentences.length === 0) return { name: 'keys', tone: 'none', text: why.keys.none }
  const holds = !isHeld && states.waiting > states.active
  return { name: 'keys', tone: holds ? 'warn' : 'good', text: (holds ? [...sentences, why.keys.held] : sentences).join(' ') }
}

/** The same verdict as among the problems of the overview. */
function failures({ queue: { name: queue, states }, stats }: Inputs): Check {
  const failing = stats.failing.filter((name) => name.queue === queue)
  const [worst] = failing
  if (worst === undefined) return { name: 'failures', tone: 'good', text: why.failures.none(states.failed) }
  return { name: 'failures', tone: severityOf(worst), text: why.failures.some(worst.name, shareText(worst), failing.length - 1) }
}

function oldest({ queue: { name, states, settings, oldestWaitingMs }, stats }: Inputs): Check {
  if (states.waiting === 0) return { name: 'oldest', tone: 'none', text: why.oldest.none }
  const usual = usualWaitMs(name, stats)
  const tone = latenessOf(oldestWaitingMs, usual, settings) ?? 'good'
  return { name: 'oldest', tone, text: why.oldest.waits(duration(oldestWaitingMs), usual === undefined ? undefined : duration(usual)) }
}
