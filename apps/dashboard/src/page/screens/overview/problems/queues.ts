/** Problems of jobs that wait: nobody serves them, they are paused, or the workers do not keep up. */

import { pause } from '../../../actions/pauses.ts'
import type { StatsAnswer } from '../../../api/answers.ts'
import { own } from '../../../api/own.ts'
import { duration } from '../../../format/durations.ts'
import { minuteTime } from '../../../format/times.ts'
import { jobsLink, queueLink } from '../../../router/links.ts'
import { TEXT } from '../../../text.ts'
import type { Inputs, Problem } from './problem.ts'

const { problems } = TEXT
const BEHIND_MS = 60_000
const FAR_BEHIND_MS = 600_000
/** How much longer than usual is a problem. */
const TIMES = 10

export function queueProblems(inputs: Inputs): readonly Problem[] {
  const { stats } = inputs
  if (stats.workers === 0 && stats.states.waiting > 0) return [nobodyAttached(inputs)]
  return [...unservedProblems(inputs), ...behindProblems(inputs), ...pausedProblems(stats)]
}

function nobodyAttached({ stats, now, zone }: Inputs): Problem {
  const oldest = Math.max(0, ...Object.values(stats.queues).map(({ oldestWaitingMs }) => oldestWaitingMs))
  return {
    id: 'no worker',
    severity: 'bad',
    icon: 'workers',
    title: problems.noWorker,
    text: problems.noWorkerMore(stats.states.waiting, duration(oldest)),
    tag: problems.since(minuteTime(now - oldest, zone)),
    show: jobsLink({ state: 'waiting' }),
  }
}

function unservedProblems({ stats, now, zone }: Inputs): readonly Problem[] {
  const { unservedLeftOut: more = 0 } = stats
  const left: Problem = {
    id: 'unserved more',
    severity: 'bad',
    icon: 'workers',
    title: problems.moreUnserved(more),
    text: problems.notListed,
    show: jobsLink({ state: 'waiting' }),
  }
  const listed = stats.unserved.map(({ queue, name, waiting }): Problem => {
    const { oldestWaitingMs: oldest = 0, paused = false } = own(stats.queues, queue) ?? {}
    return {
      id: `unserved ${queue} ${name}`,
      severity: 'bad',
      icon: 'workers',
      title: problems.unserved(name),
      text: problems.unservedMore(queue, waiting, duration(oldest)),
      tag: problems.since(minuteTime(now - oldest, zone)),
      show: jobsLink({ state: 'waiting', queue, name }),
      ...(!paused && { remedy: { label: problems.pauseQueue, does: { action: pause('pause', queue) } } }),
      queue,
      waits: 'unserved',
    }
  })
  return more === 0 ? listed : [...listed, left]
}

/** The age of jobs is no surprise if they are paused, or nobody serves some of them. */
function behindProblems({ stats, queues }: Inputs): readonly Problem[] {
  if (stats.paused) return []
  const unserved = new Set(stats.unserved.map(({ queue }) => queue))
  const limits = new Map(queues.map(({ name, settings }) => [name, settings.concurrencyLimit]))
  return Object.entries(stats.queues)
    .filter(([queue, { paused }]) => !paused && !unserved.has(queue))
    .flatMap(([queue, counts]) => behindProblem(queue, counts, usualWaitMs(queue, stats), limits.get(queue)) ?? [])
    .toSorted((a, b) => (stats.queues[b.queue as string]?.oldestWaitingMs ?? 0) - (stats.queues[a.queue as string]?.oldestWaitingMs ?? 0))
}

/** The longest median among the names of a queue; undefined if none of its jobs has run lately. */
function usualWaitMs(queue: string, { names }: StatsAnswer): number | undefined {
  const medians = names.filter((name) => name.queue === queue && name.started > 0).map(({ waitMs }) => waitMs.p50)
  return medians.length === 0 ? undefined : Math.max(...medians)
}

function behindProblem(
  queue: string,
  { oldestWaitingMs, active }: StatsAnswer['queues'][string],
  usualMs: number | undefined,
  limit: number | undefined,
): Problem | undefined {
  const isUnusual = oldestWaitingMs > BEHIND_MS && oldestWaitingMs > TIMES * (usualMs ?? 0)
  const isFar = oldestWaitingMs > FAR_BEHIND_MS
  if (!isUnusual && !isFar) return undefined
  const usual = usualMs === undefined ? undefined : duration(usualMs)
  const slots = limit !== undefined && active >= limit ? problems.slotsTaken(active, limit) : ''
  return {
    id: `behind ${queue}`,
    // A long wait that is usual is known, and asks for less.
    severity: isUnusual && isFar ? 'bad' : 'warn',
    icon: 'schedules',
    title: problems.behind(queue),
    text: problems.behindMore(duration(oldestWaitingMs), usual) + slots,
    show: queueLink(queue),
    queue,
    waits: 'behind',
  }
}

function pausedProblems({ paused: all, queues }: StatsAnswer): readonly Problem[] {
  if (all) return []
  return Object.entries(queues)
    .filter(([, { paused, waiting }]) => paused && waiting > 0)
    .map(([queue, { waiting, oldestWaitingMs }]) => ({
      id: `paused ${queue}`,
      severity: 'warn',
      icon: 'pause',
      title: problems.paused(queue),
      text: problems.pausedMore(waiting, duration(oldestWaitingMs)),
      show: queueLink(queue),
      remedy: { label: problems.resume, does: { action: pause('resume', queue) } },
      queue,
    }))
}
