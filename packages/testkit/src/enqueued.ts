/** Returns the enqueued jobs, and checks that they are what a test expects. */
import { AssertionError } from 'node:assert'
import type { Engine, Job, JobOf } from '@millrace/client'
import { checkKnown, integerOption, LIMITS, nameOption } from '@millrace/core'
import type { JobOrName } from '@millrace/worker'
import { mismatches, shown } from './mismatch.ts'

/** A job as `engine.get` returns it, or a part of it; `data` may be a part, too. Or a function that returns true for a match. */
export type EnqueuedMatcher = Partial<Omit<Job, 'name'>> | ((job: Job) => boolean)

/** The options of `expectEnqueued`. */
export interface ExpectOptions {
  /** The exact number of jobs; 0 for none. Default: at least one. */
  readonly count?: number
}

const KNOWN: ReadonlySet<string> = new Set<Exclude<keyof Job, 'name'>>([
  'id',
  'queue',
  'state',
  'data',
  'output',
  'checkpoint',
  'undecoded',
  'progress',
  'progressNote',
  'progressValue',
  'attempt',
  'run',
  'maxAttempts',
  'maxAge',
  'maxLost',
  'keep',
  'lostRuns',
  'logLines',
  'timeout',
  'heartbeatTimeout',
  'backoff',
  'priority',
  'weight',
  'tokens',
  'enqueuedAt',
  'runAt',
  'originalRunAt',
  'startedAt',
  'deadlineAt',
  'finishedAt',
  'expiresAt',
  'cancelRequested',
  'tags',
  'meta',
  'idempotencyKey',
  'uniqueKey',
  'concurrencyKey',
  'flow',
  'attempts',
])
const EXPECT_KNOWN: ReadonlySet<string> = new Set(['count'])
/** The number of jobs that an error shows. */
const SHOWN_MAX = 20

/** Returns the jobs of a name that the engine has, oldest first, in any state. */
export async function enqueued<Type extends JobOrName>(engine: Engine, job: Type): Promise<readonly JobOf<Type>[]> {
  return (await read(engine, nameOf(job))) as readonly Job[] as readonly JobOf<Type>[]
}

export async function expectEnqueued<Type extends JobOrName>(
  engine: Engine,
  job: Type,
  matcher: EnqueuedMatcher,
  options: ExpectOptions,
): Promise<readonly JobOf<Type>[]> {
  const name = nameOf(job)
  if (typeof matcher !== 'function') checkKnown('expectEnqueued', matcher, KNOWN)
  checkKnown('expectEnqueued', options, EXPECT_KNOWN)
  const count = options.count === undefined ? undefined : integerOption('count', options.count, 0, Number.MAX_SAFE_INTEGER)
  const jobs = await read(engine, name)
  const looked = jobs.map((one) => ({ job: one, wrong: wrongOf(matcher, one) }))
  const found = looked.filter(({ wrong }) => wrong.length === 0).map((one) => one.job)
  if (count === undefined ? found.length > 0 : found.length === count) return found as readonly Job[] as readonly JobOf<Type>[]
  const wanted = `${count === undefined ? 'a job' : count === 1 ? '1 job' : `${count} jobs`} '${name}'${likeText(matcher)}`
  const lines = looked.map(({ job: one, wrong }) => `  ${factsOf(one)}${wrong.map((line) => `\n      ${line}`).join('')}`)
  const list = jobs.length > 0 ? lines : await othersOf(engine)
  const more = list.length > SHOWN_MAX ? [`  and ${list.length - SHOWN_MAX} more`] : []
  throw new AssertionError({
    message: [
      `expected ${wanted} to be enqueued; ${found.length === 0 ? 'there is none' : `there are ${found.length}`}.`,
      jobs.length > 0 ? `Of that name were enqueued (${jobs.length}):` : 'Of other names were enqueued:',
      ...list.slice(0, SHOWN_MAX),
      ...more,
    ].join('\n'),
    actual: jobs.slice(0, SHOWN_MAX).map((one) => (typeof matcher === 'function' ? one : partOf(one, matcher))),
    expected: typeof matcher === 'function' ? matcher : [matcher],
    operator: 'expectEnqueued',
    stackStartFn: expectEnqueued,
  })
}

function nameOf(job: JobOrName): string {
  return nameOption('job', typeof job === 'string' ? job : job?.name)
}

async function read(engine: Engine, name?: string): Promise<Job[]> {
  const jobs: Job[] = []
  for (let after: string | undefined; ; ) {
    const filter = { limit: LIMITS.pageJobs, ...(name !== undefined && { name }), ...(after !== undefined && { after }) }
    const page = await engine.list(filter)
    jobs.push(...page.jobs)
    after = page.next
    if (after === undefined) return jobs.reverse()
  }
}

function wrongOf(matcher: EnqueuedMatcher, job: Job): readonly string[] {
  if (typeof matcher === 'function') return matcher(job) ? [] : ['the function says no']
  return mismatches(matcher, job, '')
}

function likeText(matcher: EnqueuedMatcher): string {
  if (typeof matcher === 'function') return ' that a function says yes to'
  return Object.keys(matcher).length === 0 ? '' : ` with ${shown(matcher)}`
}

function factsOf({ state, queue, data }: Job): string {
  return `${state} in queue '${queue}': ${shown(data)}`
}

async function othersOf(engine: Engine): Promise<string[]> {
  const counts = new Map<string, number>()
  for (const { name } of await read(engine)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts.size === 0 ? ['  nothing at all'] : [...counts].map(([name, count]) => `  ${count} '${name}'`)
}

function partOf(job: Job, matcher: Partial<Job>): Partial<Job> {
  return Object.fromEntries(Object.keys(matcher).map((name) => [name, job[name as keyof Job]]))
}
