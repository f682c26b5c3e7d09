/** Problems of jobs that fail: names that fail for as long as they do, and kinds of failures that are new or far more frequent than usual. */
import { jobsOfGroup } from '../../../actions/jobsOfGroup.ts'
import type { FailingName, Failure } from '../../../api/answers.ts'
import { own } from '../../../api/own.ts'
import { sum } from '../../../chart/paths.ts'
import { rate } from '../../../format/numbers.ts'
import { minuteTime, type Zone } from '../../../format/times.ts'
import { errorLink, jobsLink } from '../../../router/links.ts'
import { TEXT } from '../../../text.ts'
import type { Inputs, Problem, Severity } from './problem.ts'

const { problems } = TEXT
const HOUR_MS = 3_600_000
/** A kind that was not seen for so long is over. */
const RECENT_MS = 600_000
/** A kind that has just failed is a problem, even if all its jobs have completed since: it may come back at once. */
const JUST_NOW_MS = 60_000
/** How much more often than usual is a problem. */
const TIMES = 10
/** Fewer failures than that are none. */
const LEAST = 10
/** The error of jobs that only waited for one that failed, which has a group of its own. */
const CONSEQUENCE = 'ParentFailedError'

export function failureProblems(inputs: Inputs): readonly Problem[] {
  const { failures: all, stats, now, zone } = inputs
  const failures = all.filter(({ error }) => error !== CONSEQUENCE)
  const isFresh = ({ firstAt }: Failure) => now - Date.parse(firstAt) < HOUR_MS
  const fresh = failures.filter((failure) => isFresh(failure) && !isOver(failure, inputs))
  const known = failures.filter((failure) => !isFresh(failure))
  const found = [
    ...fresh.toSorted((a, b) => b.count - a.count).map((failure) => freshProblem(failure, minuteTime(Date.parse(failure.firstAt), zone))),
    ...risingOf(known, now, zone),
  ]
  const listed = stats.failing.reduce<readonly Problem[]>((problems, name) => withFailing(problems, name, failures, inputs), found)
  const { failingLeftOut: more = 0 } = stats
  if (more === 0) return listed
  const title = problems.moreFailing(more)
  return [
    ...listed,
    { id: 'failing more', severity: 'warn', icon: 'errors', title, text: problems.notListed, show: jobsLink({ state: 'failed' }) },
  ]
}

/** Adds a name that fails: to the problem of the kind that fails most, or as one of its own. */
function withFailing(
  found: readonly Problem[],
  name: FailingName,
  failures: readonly Failure[],
  { now, zone }: Inputs,
): readonly Problem[] {
  const kinds = failures.filter((failure) => failure.queue === name.queue && failure.name === name.name && isNow(failure, name))
  const [most] = kinds.toSorted((a, b) => frequency(b, now).last - frequency(a, now).last)
  const share = shareText(name)
  if (most === undefined)
    return [...found, { ...failingProblem(name, zone), text: problems.failingIn(name.queue, share), title: problems.failing(name.name) }]
  const kind = problemOf(most)
  if (!found.some(({ id }) => id === kind.id))
    return [
      ...found,
      { ...failingProblem(name, zone), ...kind, text: problems.failingIn(whereOf(most), share), severity: severityOf(name) },
    ]
  const isFresh = now - Date.parse(most.firstAt) < HOUR_MS
  const textOf = (text: string) =>
    isFresh ? problems.freshIn(whereOf(most), share, minuteTime(Date.parse(most.firstAt), zone)) : problems.also(text, share)
  return found.map((problem) => (problem.id === kind.id ? { ...problem, text: textOf(problem.text) } : problem))
}

/** A kind that has not failed since the name began to fail is not why. */
function isNow({ lastAt }: Failure, { firstAt }: FailingName): boolean {
  return Date.parse(lastAt) >= firstAt
}

function failingProblem(name: FailingName, zone: Zone): Omit<Problem, 'text' | 'title'> {
  return {
    id: `failing ${name.queue} ${name.name}`,
    severity: severityOf(name),
    icon: 'errors',
    tag: problems.since(minuteTime(name.firstAt, zone)),
    show: jobsLink({ state: 'failed', queue: name.queue, name: name.name }),
    queue: name.queue,
  }
}

/** Red if jobs are lost, or no run completes; amber while every job that fails is tried again. */
export function severityOf({ failedJobs, streak, runs }: FailingName): Severity {
  return failedJobs > 0 || streak >= runs ? 'bad' : 'warn'
}

/** The share of runs that fail: of a name that runs rarely, its last ones. */
export function shareText({ failed, runs, failedJobs, streak }: FailingName): string {
  const share = streak >= runs ? problems.streak(streak) : problems.share(failed, runs)
  return failedJobs === 0 ? share : problems.lost(share, failedJobs)
}

function freshProblem(failure: Failure, since: string): Problem {
  return { ...problemOf(failure), text: problems.fresh(whereOf(failure), failure.count, since), tag: problems.isNew }
}

function risingOf(known: readonly Failure[], now: number, zone: Zone): readonly Problem[] {
  return known.flatMap((failure) => {
    const { last, spanMs, usual } = frequency(failure, now)
    const isPast = now - Date.parse(failure.lastAt) >= RECENT_MS
    if (isPast || last < LEAST || (last * HOUR_MS) / spanMs < TIMES * usual) return []
    const runs = problems.fresh(whereOf(failure), last, minuteTime(now - spanMs, zone))
    return [{ ...problemOf(failure), text: problems.rising(runs, rate(usual)), tag: problems.rises }]
  })
}

/**
 * True once no job of the queue has failed or is tried again: somebody has retried or deleted them, or their next attempt has completed.
 * Jobs that wait or run may be those, at a next attempt that takes long or behind a pause: then only a longer silence says so.
 */
function isOver({ queue, lastAt }: Failure, { stats, queues, now }: Inputs): boolean {
  const counts = own(stats.queues, queue)
  // An answer about many queues leaves some out.
  if (counts === undefined || counts.retrying > 0 || counts.failed > 0) return false
  const kept = queues.find(({ name }) => name === queue)?.settings.retention?.failed
  // Failed jobs that are soon deleted are not fixed.
  if (kept !== undefined && (kept.ageMs < HOUR_MS || kept.count === 0)) return false
  const silentMs = counts.waiting + counts.active > 0 ? RECENT_MS : JUST_NOW_MS
  return now - Date.parse(lastAt) >= silentMs
}

/** The failures of this hour so far, and those of an hour before it. An hour that has just begun says little: the one before is its part. */
function frequency({ trend = [], firstAt }: Failure, now: number) {
  const hours = now % HOUR_MS < RECENT_MS ? 2 : 1
  const spanMs = (now % HOUR_MS) + (hours - 1) * HOUR_MS
  const before = Math.min(trend.length - hours, (now - spanMs - Date.parse(firstAt)) / HOUR_MS)
  return { last: sum(trend.slice(-hours)), spanMs, usual: sum(trend.slice(0, -hours)) / Math.max(1, before) }
}

const whereOf = ({ queue, name }: Pick<Failure, 'queue' | 'name'>) => `${queue} / ${name}`

function problemOf(failure: Failure): Omit<Problem, 'text'> {
  const { fingerprint, queue, name, error, message } = failure
  return {
    id: `failure ${fingerprint} ${queue} ${name}`,
    severity: 'bad',
    icon: 'errors',
    title: error,
    ...(message !== undefined && { message }),
    show: errorLink(fingerprint),
    remedy: { label: problems.retry, does: { bulk: { word: 'retry', ...jobsOfGroup(failure) } } },
    queue,
  }
}
