/** Problems of jobs that wait: nobody serves them, they are paused, or the workers do not keep up. */

import { pause } from '../../../actions/pauses.ts'
import type { QueueAnswer, StatsAnswer } from '../../../api/answers.ts'
import { own } from '../../../api/own.ts'
import { duration } from '../../../format/durations.ts'
import { minuteTime } from '../../../format/times.ts'
import { jobsLink, queueLink } from '../../../router/links.ts'
import { TEXT } from '../../../text.ts'
import { latenessOf, usualWaitMs } from './lateness.ts'
import type { Inputs, Problem } from './problem.ts'

const { problems } = TEXT

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
  const settings = new Map(queues.map((queue) => [queue.name, queue.settings]))
  return Object.entries(stats.queues)
    .filter(([queue, { paused }]) => !paused && !unserved.has(queue))
    .flatMap(([queue, counts]) => behindProblem(queue, counts, usualWaitMs(queue, stats), settings.get(queue)) ?? [])
    .toSorted((a, b) => (stats.queues[b.queue as string]?.oldestWaitingMs ?? 0) - (stats.queues[a.queue as string]?.oldestWaitingMs ?? 0))
}

function behindProblem(
  queue: string,
  { oldestWaitingMs, active }: StatsAnswer['queues'][string],
  usualMs: number | undefined,
  settings: QueueAnswer['settings'] = {},
): Problem | undefined {
  const severity = latenessOf(oldestWaitingMs, usualMs, settings)
  if (severity === undefined) return undefined
  const { concurrencyLimit: limit } = settings
  const usual = usualMs === undefined ? undefined : duration(usualMs)
  const slots = limit !== undefined && active >= limit ? problems.slotsTaken(active, limit) : ''
  return {
    id: `behind ${queue}`,
    severity,
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
