/** Formats jobs for people: a line each in lists, or all details of one. */
import { JOB_TEXT_NAMES, LIMITS, type RunError } from '@millrace/core'
import type { Job, JobLog, PayloadName } from '@millrace/engine'
import { flagName } from '../../config/flagName.ts'
import { awayText, bytesText, countText, durationText, timeText } from '../output/amounts.ts'
import { type Line, line, type Text } from '../output/line.ts'
import { plain } from '../output/plain.ts'
import { type Paint, stateText } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { settingText } from './setting.ts'

export function jobColumns(paint: Paint, now: number): readonly Column<Job>[] {
  return [
    { title: 'ID', text: (job) => job.id },
    { title: 'NAME', elastic: true, text: ({ name, summary }) => (summary === undefined ? name : `${name}: ${summary}`) },
    { title: 'QUEUE', elastic: true, text: (job) => job.queue },
    { title: 'STATE', text: (job) => stateText(job.state, paint) },
    { title: 'ATTEMPT', text: (job) => `${job.attempt}/${job.maxAttempts}`, right: true },
    { title: 'SINCE', text: (job) => awayText(sinceOf(job), now) },
  ]
}

export const LAST_RUN_COLUMNS: readonly Column<Job>[] = [
  { title: 'WORKER', text: ({ lastRun }) => lastRun?.worker || '-' },
  { title: 'ERROR', elastic: true, text: errorText },
]

/** Formats the error of the job's last run as a part of a line. */
export function errorText({ lastRun }: Job): string {
  return lastRun?.error === undefined ? '-' : `${lastRun.error.name}: ${lastRun.error.message}`.slice(0, 100)
}

/** Returns when the job entered its state, or will leave it. */
function sinceOf({ state, runAt, startedAt, finishedAt, enqueuedAt }: Job): Date {
  if (state === 'scheduled') return runAt
  if (state === 'active') return startedAt ?? enqueuedAt
  return finishedAt ?? enqueuedAt
}

/** @param sleep the name of the sleep that its handler is in */
export function jobLines(job: Job, paint: Paint, sleep?: string): Text[] {
  const fields: readonly (readonly [name: string, text: Text | undefined])[] = [
    ['id', job.id],
    ['name', job.name],
    ['queue', job.queue],
    ['state', stateText(job.state, paint)],
    ['sleeps in', sleep],
    ['attempt', `${job.attempt} of ${job.maxAttempts} (run ${job.run})`],
    ['progress', job.progress === undefined ? undefined : `${Math.round(job.progress * 100)} % ${job.progressNote ?? ''}`.trimEnd()],
    ['progress value', job.progressValue === undefined ? undefined : JSON.stringify(job.progressValue)],
    ['lost workers', job.maxLost === undefined ? undefined : `${job.lostRuns} of ${job.maxLost} allowed`],
    ['priority', String(job.priority)],
    ['weight', job.weight === 1 ? undefined : String(job.weight)],
    ['tokens', job.tokens > 1 ? countText(job.tokens) : undefined],
    ['timeout', durationText(job.timeout)],
    ['backoff', settingText({ type: 'backoff' }, job.backoff)],
    ['keep', job.keep === undefined ? undefined : job.keep === LIMITS.durationMs ? 'forever' : durationText(job.keep)],
    ['enqueued', timeText(job.enqueuedAt)],
    ['due', timeText(job.runAt)],
    ['first due', job.originalRunAt && timeText(job.originalRunAt)],
    ['started', job.startedAt && timeText(job.startedAt)],
    ['deadline', job.deadlineAt && timeText(job.deadlineAt)],
    ['finished', job.finishedAt && timeText(job.finishedAt)],
    ['expires', job.expiresAt && timeText(job.expiresAt)],
    ['cancelling', job.cancelRequested && job.state === 'active' ? 'yes' : undefined],
    ['cancelled by', job.cancellation?.by],
    ['reason', job.cancellation?.reason],
    ['tags', job.tags.length === 0 ? undefined : job.tags.join(', ')],
    ['idempotency key', job.idempotencyKey],
    ['unique key', job.uniqueKey],
    ...JOB_TEXT_NAMES.map((name) => [flagName(name).replaceAll('-', ' '), job[name]] as const),
    ['flow', job.flow && `${job.flow.id} as ${job.flow.ref}, after ${job.flow.parents}`],
    ['data', payloadText(job, 'data')],
    ['checkpoint', payloadText(job, 'checkpoint')],
    ['output', payloadText(job, 'output')],
    ['meta', JSON.stringify(job.meta) === '{}' ? undefined : JSON.stringify(plain(job.meta))],
  ]
  const shown = fields.filter((field): field is readonly [string, Text] => field[1] !== undefined)
  return [...fieldLines(shown, paint), ...job.attempts.flatMap((attempt) => attemptLines(attempt, paint))]
}

function payloadText(job: Job, name: PayloadName): string | undefined {
  const preview = job.preview?.[name]
  if (preview === undefined) return job[name] === undefined ? undefined : JSON.stringify(plain(job[name]))
  const { bytes, start, cut } = preview
  const text = typeof start === 'string' ? start : start === undefined ? '' : JSON.stringify(plain(start))
  return cut ? `${text}… (${bytesText(bytes)})` : text
}

/** Returns a line for each name and its value. */
export function fieldLines(fields: readonly (readonly [name: string, text: Text])[], paint: Paint): Line[] {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, text]) => line`${paint('dim', name.padEnd(width))}  ${text}`)
}

function attemptLines({ run, attempt, startedAt, endedAt, worker, error, logs }: Job['attempts'][number], paint: Paint): Text[] {
  const took = startedAt === undefined || endedAt === undefined ? '' : `, ${durationText(endedAt.getTime() - startedAt.getTime())}`
  const end = endedAt === undefined ? 'now' : timeText(endedAt)
  const head = `run ${run}, attempt ${attempt}: ${timeText(startedAt)} to ${end}${took}${worker === '' ? '' : `, by ${worker}`}`
  return [
    '',
    paint('bold', head),
    ...(error === undefined
      ? []
      : [
          line`  ${paint('red', error.name)}: ${error.message}${codeText(error)}`,
          ...(error.cause ?? []).map((cause) => line`    caused by ${cause.name}: ${cause.message}${codeText(cause)}`),
          ...stackOf(error).map((frame) => paint('dim', `    ${frame}`)),
        ]),
    ...logs.map((each) => line`  ${logText(each, paint)}`),
  ]
}

function codeText({ code }: Pick<RunError, 'code'>): string {
  return code === undefined ? '' : ` (${code})`
}

/** Returns the frames of the stack, without the lines that contain the name and the message. */
function stackOf({ stack }: RunError): readonly string[] {
  return (stack ?? '').split('\n').flatMap((frame) => (/^\s+at /.test(frame) ? [frame.trim()] : []))
}

export function logText({ at, level, message, fields }: JobLog, paint: Paint): Line {
  const style = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim'
  const rest = fields === undefined ? '' : ` ${JSON.stringify(fields)}`
  return line`${at.toISOString()} ${paint(style, level.padEnd(5))} ${message}${rest}`
}
