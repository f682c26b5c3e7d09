/**
 * `millrace demo`: a shop's queues with their dashboard, in a temporary folder. Beside it a producer of demo jobs for another engine, and
 * a worker that fails as often as `--fail-percent` says.
 */
import { durationOption, integerOption, isError, type Logger, OptionRangeError, OptionTypeError } from '@millrace/core'
import { defineJob, type Context as RunContext } from '@millrace/worker'
import type { Command } from 'commander'
import { EXIT } from '../../exit.ts'
import { chance, newKey, now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { defaultCommand } from '../groups.ts'
import { many } from '../output/amounts.ts'
import { line } from '../output/line.ts'
import { loggerOn } from '../output/logger.ts'
import { duration, number } from '../values.ts'
import { serve } from '../worker/serve.ts'

interface StartFlags {
  readonly port?: number
  readonly seed: number
  readonly rate: number
  readonly duration?: number
}

interface ProducerFlags {
  readonly rate: number
  readonly count?: number
  readonly duration?: number
}

interface WorkerFlags {
  readonly failPercent: number
  readonly work: number
  readonly concurrency: number
  readonly duration?: number
}

const JOB = 'demo'
const RATE_MIN = 0.001
const RATE_MAX = 100_000
/** The maximum time between two batches. Each batch creates the jobs that are due by then. */
const STEP_MS = 50
const CONCURRENCY = 16
const LONGEST = { max: 24 * 3_600_000 }
const SPEED_MIN = 0.1
const SPEED_MAX = 100

export function addDemo(program: Command, context: Context): void {
  const demo = program.command('demo').description('Run a demo with its dashboard, or create and run demo jobs')
  defaultCommand(demo, 'start')
    .description("Run a shop's queues with their dashboard, in a temporary folder, until Ctrl-C")
    .option('--port <number>', 'port of the dashboard; default 7411, or a free one if it is taken', number)
    .option('--seed <number>', 'seed of the stream of jobs, which it repeats: 0 to 4,294,967,295; default 1', number, 1)
    .option('--rate <factor>', 'how many times the usual number of jobs: 0.1 to 100; default 1', number, 1)
    .option('--duration <duration>', 'stop after this long', duration)
    .action((flags: StartFlags) => start(context, flags))
  demo
    .command('producer')
    .description('Create demo jobs at a steady rate')
    .option('--rate <number>', 'jobs a second: 0.001 to 100,000; default 10', number, 10)
    .option('--count <number>', 'stop after this many', number)
    .option('--duration <duration>', 'stop after this long', duration)
    .action((flags: ProducerFlags) => produce(context, flags))
  demo
    .command('worker')
    .description('Run demo jobs and fail some of them')
    .option('--fail-percent <number>', 'how many of the runs fail: 0 to 100; default 0', number, 0)
    .option('--work <duration>', 'how long a run takes; default 100ms', duration, 100)
    .option('-c, --concurrency <number>', 'how many jobs run at the same time; default 16', number, CONCURRENCY)
    .option('--duration <duration>', 'stop after this long', duration)
    .action((flags: WorkerFlags) => work(context, flags))
}

async function start(context: Context, flags: StartFlags): Promise<void> {
  const { out } = context
  const port = flags.port === undefined ? undefined : integerOption('port', flags.port, 0, 65_535)
  const seed = integerOption('seed', flags.seed, 0, 2 ** 32 - 1)
  const rate = rateOption(flags.rate, SPEED_MIN, SPEED_MAX)
  const durationMs = flags.duration === undefined ? undefined : durationOption('duration', flags.duration, LONGEST)
  const stop = new AbortController()
  context.takeOver(() => {
    // A second signal does not wait for running jobs.
    if (stop.signal.aborted) context.host.exit(EXIT.interrupted)
    stop.abort()
  })
  const [{ startDemo }, { jobsPerMinute }, { dashboardFiles }] = await Promise.all([
    import('../../demo/demo.ts'),
    import('../../demo/shop.ts'),
    import('@millrace/dashboard'),
  ])
  const logger = withoutJobs(loggerOn(out))
  const demo = await startDemo({ port, seed, rate, logger, dashboard: dashboardFiles })
  try {
    await out.item(
      { url: demo.url, file: demo.file, seed },
      () => line`Open ${out.paint('bold', demo.url)} in a browser. There is no log-in: only this machine can reach it.`,
    )
    if (!out.json)
      await out.lines([
        '',
        `A shop creates about ${jobsPerMinute(rate)} jobs a minute, from seed ${seed}. Some of them fail.`,
        `From a second terminal: millrace status --file ${demo.file}`,
        'Ctrl-C stops the demo and removes its files.',
      ])
    const ended = Promise.withResolvers<void>()
    stop.signal.addEventListener('abort', () => ended.resolve(), { once: true })
    if (durationMs !== undefined) void pause(durationMs, stop.signal).then(() => ended.resolve())
    if (stop.signal.aborted) ended.resolve()
    const reason = await Promise.race([ended.promise, demo.ending])
    if (isError(reason)) throw reason
  } finally {
    await demo.close()
  }
}

/** Logs errors alone, and none of a job: jobs that fail are a part of the demo. */
function withoutJobs({ error }: Logger): Logger {
  const nothing = () => {}
  return {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (message, fields) => {
      if (fields?.['job'] === undefined) error(message, fields)
    },
  }
}

function rateOption(rate: number, least: number, most: number): number {
  if (rate >= least && rate <= most) return rate
  throw new OptionRangeError('rate', rate < least ? least : most, `rate must be between ${least} and ${most}, got ${rate}`)
}

async function produce({ connect, out, signal }: Context, flags: ProducerFlags): Promise<void> {
  const rate = rateOption(flags.rate, RATE_MIN, RATE_MAX)
  const count = flags.count === undefined ? Number.POSITIVE_INFINITY : integerOption('count', flags.count, 1, Number.MAX_SAFE_INTEGER)
  const until = flags.duration === undefined ? Number.POSITIVE_INFINITY : durationOption('duration', flags.duration, LONGEST)
  const engine = await connect({ create: true })
  const progress = out.progress()
  const beganAt = now()
  let created = 0
  for (let elapsed = 0; created < count && elapsed < until && !signal.aborted; elapsed = now() - beganAt) {
    const due = Math.min(count, Math.floor((Math.min(elapsed, until) / 1_000) * rate) + 1) - created
    const jobs = Array.from({ length: Math.min(due, 1_000) }, (_, index) => ({ job: JOB, data: { number: created + index + 1 } }))
    await engine.enqueueMany(jobs)
    created += jobs.length
    progress.show(() => `${many(created, 'job')} created`)
    // A producer that is behind catches up without a pause.
    if (jobs.length === due && created < count) await pause(Math.max(1, Math.min(STEP_MS, 1_000 / rate)), signal)
  }
  progress.end()
  await out.answer({ created, ms: now() - beganAt }, () => `${many(created, 'job')} created`)
}

async function work(context: Context, flags: WorkerFlags): Promise<void> {
  const failPercent = percentOption(flags.failPercent)
  const workMs = durationOption('work', flags.work, LONGEST)
  const until = new AbortController()
  if (flags.duration !== undefined)
    void pause(durationOption('duration', flags.duration, LONGEST), context.signal).then(() => until.abort())
  const handler = defineJob<{ readonly number: number }>({
    name: JOB,
    backoff: { type: 'exponential', delay: '1s', maxDelay: '1m' },
  }).handler((run) => handle(run, workMs, failPercent))
  await serve(context, {
    id: `demo-${newKey().slice(0, 8)}`,
    handlers: [handler],
    work: { concurrency: flags.concurrency },
    drainMs: Number.POSITIVE_INFINITY,
    log: null,
    verbose: true,
    until: until.signal,
  })
}

async function handle({ data, job, signal, log, progress }: RunContext<{ readonly number: number }>, workMs: number, failPercent: number) {
  log('info', `job ${data?.number ?? job.id} begins`, { attempt: job.attempt })
  await pause(workMs / 2, signal)
  progress(0.5)
  await pause(workMs / 2, signal)
  signal.throwIfAborted()
  if (chance() * 100 < failPercent) throw new Error(`failed on purpose, as ${failPercent} % of the runs do`)
  return { attempt: job.attempt }
}

function percentOption(value: unknown): number {
  if (typeof value !== 'number') throw new OptionTypeError('failPercent', `failPercent must be a number, got ${JSON.stringify(value)}`)
  if (value < 0 || value > 100)
    throw new OptionRangeError('failPercent', value < 0 ? 0 : 100, `failPercent must be between 0 and 100, got ${value}`)
  return value
}
