/** The tools of `millrace mcp`: what a model needs to find out why jobs do not run or fail, and to retry them. */
import {
  FAILURES_ORDERS,
  type FailuresOptions,
  JobNotFoundError,
  LIST_ORDERS,
  type LogsOptions,
  mapJobTexts,
  OptionTypeError,
  type QueuesPageOptions,
  type RetryOptions,
  type ScheduleListOptions,
  STATES,
  type StepsOptions,
  shortened,
} from '@millrace/core'
import type { Engine, Job, JobLog, JobMessage, JobStep, ListOptions, ManyFilter, Schedule, Stats } from '@millrace/engine'
import { z } from 'zod'
import { plain } from '../cli/output/plain.ts'
import { warningsOf } from '../cli/view/warnings.ts'
import { defined } from '../defined.ts'
import { type Tool, type ToolSettings, tool } from './tool.ts'

/** The default and the largest number of items in an answer: models read few. */
const PAGE = 20
const PAGE_MAX = 100
const RETRIED_MAX = 10_000
/** The runs of a job, and the log lines of each, that an answer has. */
const RUNS = 5
const LINES = 20
/** The characters of a log line that an answer has, so that a page of long ones stays readable. */
const LINE_CHARACTERS = 1_000

const ID = z.strictObject({ id: z.string().describe('The id of the job, a UUID.') })
const NOTHING = z.strictObject({})
const limit = z.int().min(1).max(PAGE_MAX).default(PAGE).describe(`Items in the answer; default ${PAGE}.`)

const FILTER = {
  queue: z.string().optional().describe('Only jobs of this queue.'),
  name: z.string().optional().describe('Only jobs with this name.'),
  tag: z.string().optional().describe('Only jobs with this tag.'),
  error: z.string().optional().describe("Only jobs whose last run ended with an error of this class, such as 'TypeError'."),
  fingerprint: z.string().optional().describe('Only jobs whose last run ended with this kind of error: fingerprint of list_failures.'),
}

const payloadOf = ({ payloads }: ToolSettings) => (payloads ? 'preview' : 'none')

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'get_status',
    title: 'Status',
    description:
      'Counts the jobs by state, of the whole engine and of each queue, and lists warnings: pauses, job names without a worker, job names that fail, workers that are away. Call it first.',
    input: NOTHING,
    async call(engine) {
      const stats = await engine.stats({ names: 'percentiles', definitions: 'disputed' })
      const workers = await engine.workers()
      const { paused, states, retrying, totals, unserved, unservedLeftOut, failing, failingLeftOut, names, owner } = stats
      const all = warningsOf(stats, workers)
      const warnings = {
        warnings: all.slice(0, PAGE_MAX),
        ...(all.length > PAGE_MAX && { warningsLeftOut: all.length - PAGE_MAX }),
      }
      const counts = { paused, states, retrying, totals, ...queuesOf(stats) }
      const lists = {
        unserved: unserved.slice(0, PAGE),
        ...(behind(unserved, unservedLeftOut) > 0 && { unservedLeftOut: behind(unserved, unservedLeftOut) }),
        failing: failing.slice(0, PAGE),
        ...(behind(failing, failingLeftOut) > 0 && { failingLeftOut: behind(failing, failingLeftOut) }),
        names: names.slice(0, PAGE),
      }
      return { ...warnings, ...counts, ...lists, workers: workers.length, owner }
    },
  }),
  tool({
    name: 'list_queues',
    title: 'Queues',
    description: 'Lists queues in the order of their names, with their settings (limits, rates), pauses and counts by state.',
    input: z.strictObject({ after: z.string().optional().describe('The name of the last queue of the previous answer.'), limit }),
    call: async (engine, options) => ({ queues: await engine.queues.page(defined<QueuesPageOptions>(options)) }),
  }),
  tool({
    name: 'list_jobs',
    title: 'Jobs',
    description:
      'Lists jobs, newest first, each with the error of its last run. With a search, an answer may be short or empty and still have a next.',
    input: z.strictObject({
      state: z.array(z.enum(STATES)).min(1).optional().describe('Only jobs in these states.'),
      ...FILTER,
      search: z.string().optional().describe('Only jobs that contain this string. Requires --payloads.'),
      order: z.enum(LIST_ORDERS).optional().describe("Default newest. 'finished' needs one final state, 'due' the state scheduled."),
      after: z.string().optional().describe('The next of the previous answer.'),
      limit,
    }),
    async call(engine, { state, ...options }, settings) {
      if (options.search !== undefined && !settings.payloads)
        throw new OptionTypeError('search', 'search looks into data, which is not shown here: start millrace mcp with --payloads')
      const states = state?.length === 1 ? state[0] : state
      const wanted = defined<ListOptions>({ ...options, state: states, lastRun: true, payload: payloadOf(settings) })
      const { jobs, ...page } = await engine.list(wanted)
      return { jobs: jobs.map(brief), ...page }
    },
  }),
  tool({
    name: 'get_job',
    title: 'One job',
    description: `Returns a job with its last ${RUNS} runs, their errors with stacks, and the newest ${LINES} log lines of each.`,
    input: ID,
    async call(engine, { id }, settings) {
      const { attempts, meta, progressNote, progressValue, ...job } =
        (await engine.get(id, { payload: payloadOf(settings) })) ?? missing(id)
      const written = settings.payloads ? { meta, progressNote, progressValue } : {}
      const shown = attempts.slice(-RUNS).map(({ logs, ...run }) => ({ ...run, logs: logs.slice(-LINES).map(shortLine) }))
      return { job: { ...job, ...written }, runs: shown, runsLeftOut: attempts.length - shown.length }
    },
  }),
  tool({
    name: 'explain_job',
    title: 'Why a job has not run',
    description: 'Returns all that keeps a job from its start now: a pause, a limit, a rate, no worker, its time, or other jobs.',
    input: ID,
    call: async (engine, { id }) => (await engine.explain(id)) ?? missing(id),
  }),
  tool({
    name: 'get_logs',
    title: 'Log lines',
    description: `Returns log lines of one run of a job, the newest first, and the first ${LINE_CHARACTERS} characters of each.`,
    input: ID.extend({
      run: z.int().min(1).optional().describe('The number of the run; default the last one.'),
      after: z.int().min(0).optional().describe('The next of the previous answer.'),
      limit,
    }),
    async call(engine, { id, ...options }) {
      const { lines, ...page } = await engine.logs(id, defined<LogsOptions>({ ...options, order: 'newest' as const }))
      return { lines: lines.map(shortLine), ...page }
    },
  }),
  tool({
    name: 'get_steps',
    title: 'Stored steps',
    description: `Returns the stored steps of a job in order, with their errors, its open waits, and the messages that it keeps. With --payloads also the first ${LINE_CHARACTERS} characters of each value.`,
    input: ID.extend({
      after: z.int().min(0).optional().describe('The next of the previous answer.'),
      limit,
    }),
    async call(engine, { id, ...options }, { payloads }) {
      const { steps, messages, ...page } = await engine.steps(id, defined<StepsOptions>(options))
      const shown = (each: JobStep | JobMessage) => briefStep(each, payloads)
      return { steps: steps.map(shown), messages: messages.map(shown), ...page }
    },
  }),
  tool({
    name: 'list_failures',
    title: 'Failures by kind',
    description:
      'Groups the failed runs of the last 30 days by kind (class of the error, and its message without ids and numbers), with a count, the last job and its message.',
    input: z.strictObject({
      queue: FILTER.queue,
      name: FILTER.name,
      order: z
        .enum(FAILURES_ORDERS)
        .optional()
        .describe("'last' (default): kinds seen last first; 'count': kinds with the most failed runs first."),
      limit,
    }),
    call: async (engine, options) => ({ failures: await engine.failures(defined<FailuresOptions>(options)) }),
  }),
  tool({
    name: 'list_workers',
    title: 'Workers',
    description: 'Lists the attached workers: what they serve, how much they run, and whether they are paused, stopping or away.',
    input: z.strictObject({ limit }),
    async call(engine, { limit: most }) {
      const workers = await engine.workers()
      return { workers: workers.slice(0, most), all: workers.length }
    },
  }),
  tool({
    name: 'list_schedules',
    title: 'Schedules',
    description: 'Lists schedules in the order of their ids: when each fires next, its last job, and whether it is paused.',
    input: z.strictObject({ after: z.string().optional().describe('The next of the previous answer.'), limit }),
    async call(engine, options, { payloads }) {
      const { schedules, ...page } = await engine.schedules.list(defined<ScheduleListOptions>(options))
      return { schedules: payloads ? schedules : schedules.map(withoutPayloads), ...page }
    },
  }),
  tool({
    name: 'retry_job',
    title: 'Retry one job',
    description: 'Runs a failed or cancelled job again with all its attempts, and one that waits for its next attempt at once.',
    input: ID.extend({
      from: z
        .string()
        .optional()
        .describe("The name of the step at which it resumes, or 'start'; get_steps lists them. Default: the first step that has failed."),
    }),
    changes: true,
    async call(engine, { id, ...options }) {
      await engine.retry(id, defined<RetryOptions>(options))
      return { id, ...(await explained(engine, id)) }
    },
  }),
  tool({
    name: 'retry_jobs',
    title: 'Retry failed jobs',
    description:
      'Retries all failed jobs that match, or with dryRun, the default, only counts them. Count first, show the number to the user, then retry.',
    input: z.strictObject({
      ...FILTER,
      dryRun: z.boolean().default(true).describe('True (default) counts, and changes nothing.'),
      limit: z.int().min(1).max(RETRIED_MAX).default(1_000).describe('The most jobs that are retried; default 1,000.'),
    }),
    changes: true,
    async call(engine, { dryRun, limit: most, ...filter }) {
      return { dryRun, ...(await engine.retryMany({ ...defined<ManyFilter>(filter), state: 'failed' }, { dryRun, limit: most })) }
    },
  }),
]

function withoutPayloads({ data: _data, options: { meta: _meta, ...options }, lastResult, ...schedule }: Schedule): object {
  if (lastResult === undefined) return { ...schedule, options }
  const { output: _output, ...result } = lastResult
  return { ...schedule, options, lastResult: result }
}

/** Cuts the message of a line, and fields that are longer as JSON: those become a string. */
function shortLine(line: JobLog): object {
  const { message, fields } = line
  const json = fields === undefined ? '' : JSON.stringify(fields)
  return { ...line, message: shortText(message), ...(json.length > LINE_CHARACTERS && { fields: shortText(json) }) }
}

/** Returns a recorded result, with its value as JSON if values are shown. */
function briefStep({ value, ...step }: JobStep | JobMessage, isWhole: boolean): object {
  return isWhole && value !== undefined ? { ...step, value: shortText(JSON.stringify(plain(value))) } : step
}

function shortText(text: string): string {
  const left = text.length - LINE_CHARACTERS
  return left > 0 ? `${text.slice(0, LINE_CHARACTERS)}… (${left} more characters)` : text
}

/** Returns what a list shows of a job. */
function brief(job: Job): object {
  const { id, name, queue, state, attempt, maxAttempts, enqueuedAt, runAt, startedAt, finishedAt, tags, lastRun, preview } = job
  const times = { enqueuedAt, runAt, startedAt, finishedAt }
  return { id, name, queue, state, attempt, maxAttempts, ...times, tags, ...mapJobTexts((text) => job[text]), lastRun, preview }
}

/** Returns the counts of the queues with the most jobs that have not ended. */
function queuesOf({ queues, queuesLeftOut = 0 }: Pick<Stats, 'queues' | 'queuesLeftOut'>): object {
  const all = Object.entries(queues)
  const live = ({ waiting, active, scheduled, blocked }: Stats['queues'][string]) => waiting + active + scheduled + blocked
  const shown = all.toSorted(([, a], [, b]) => live(b) - live(a)).slice(0, PAGE)
  return { queues: Object.fromEntries(shown), queuesLeftOut: queuesLeftOut + all.length - shown.length }
}

/** Returns the number of items that an answer of a page leaves out of a list, which the engine may have cut before. */
function behind(list: readonly unknown[], leftOut = 0): number {
  return Math.max(0, list.length - PAGE) + leftOut
}

async function explained(engine: Engine, id: string): Promise<object> {
  const explanation = await engine.explain(id)
  return explanation === undefined ? {} : { state: explanation.state, message: explanation.message }
}

function missing(id: string): never {
  throw new JobNotFoundError(`there is no job ${shortened(id)}: it never existed, or retention has deleted it`, { jobId: id })
}
