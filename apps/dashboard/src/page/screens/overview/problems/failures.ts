/** Problems of jobs that fail: kinds of failures that are new, or far more frequent than usual. */
import type { Columns, Failure } from '../../../api/answers.ts'
import { sum } from '../../../chart/paths.ts'
import { rate } from '../../../format/numbers.ts'
import { minuteTime } from '../../../format/times.ts'
import { errorLink } from '../../../router/links.ts'
import { TEXT } from '../../../text.ts'
import type { Evidence, Problem } from '../problems.ts'

const { problems } = TEXT
const HOUR_MS = 3_600_000
const RECENT_MINUTES = 10
/** How much more often than usual is a problem. */
const TIMES = 10
/** Fewer failures than that are none. */
const LEAST = 10
/** The error of jobs that only waited for one that failed, which has a group of its own. */
const CONSEQUENCE = 'ParentFailedError'

export function failureProblems({ failures: all, recent, now, zone }: Evidence): readonly Problem[] {
  const failures = all.filter(({ error }) => error !== CONSEQUENCE)
  const fresh = failures.filter(({ firstAt }) => now - Date.parse(firstAt) < HOUR_MS)
  const known = failures.filter((failure) => !fresh.includes(failure))
  return [
    ...fresh.toSorted((a, b) => b.count - a.count).map((failure) => freshProblem(failure, minuteTime(Date.parse(failure.firstAt), zone))),
    ...risingOf(known, recent?.queues ?? {}, now),
  ]
}

function freshProblem(failure: Failure, since: string): Problem {
  return { ...problemOf(failure), text: problems.fresh(whereOf(failure), failure.count, since), tag: problems.isNew }
}

/** Failures are counted by queue: the kind that failed last in a queue stands for those of the last minutes. */
function risingOf(known: readonly Failure[], queues: Readonly<Record<string, Columns>>, now: number): readonly Problem[] {
  return Object.entries(queues).flatMap(([queue, columns]) => {
    const { last, usual } = frequency(columns.failed)
    const failure = known.find((each) => each.queue === queue && now - Date.parse(each.lastAt) < RECENT_MINUTES * 60_000)
    if (failure === undefined || last < LEAST || last < TIMES * usual) return []
    const text = problems.rising(whereOf(failure), last, rate(usual * (60 / RECENT_MINUTES)))
    return [{ ...problemOf(failure), text, tag: problems.rises }]
  })
}

/** The failures of the last ten minutes, and in ten minutes of the time before. */
function frequency(failed: readonly number[]): { readonly last: number; readonly usual: number } {
  const before = failed.slice(0, -RECENT_MINUTES)
  return {
    last: sum(failed.slice(-RECENT_MINUTES)),
    usual: before.length === 0 ? 0 : (sum(before) / before.length) * RECENT_MINUTES,
  }
}

const whereOf = ({ queue, name }: Failure) => `${queue} / ${name}`

function problemOf({ fingerprint, queue, name, error, message }: Failure): Omit<Problem, 'text'> {
  const filter = { state: 'failed', queue, name, fingerprint } as const
  return {
    id: `failure ${fingerprint} ${queue} ${name}`,
    severity: 'bad',
    icon: 'errors',
    title: error,
    ...(message !== undefined && { message }),
    show: errorLink(fingerprint),
    remedy: { label: problems.retry, does: { bulk: { word: 'retry', filter, what: TEXT.bulk.failedWith(`${queue} / ${name}`, error) } } },
    queue,
  }
}
