/** `millrace demo`: a producer of demo jobs, and a worker that fails as often as `--fail-percent` says. */
import { durationOption, integerOption, OptionRangeError, OptionTypeError } from '@millrace/core'
import { defineJob, type Context as RunContext } from '@millrace/worker'
import type { Command } from 'commander'
import { chance, newKey, now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { many } from '../output/amounts.ts'
import { duration, number } from '../values.ts'
import { serve } from '../worker/serve.ts'

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
const RATE_MAX = 100_000
/** The maximum time between two batches. Each batch creates the jobs that are due by then. */
const STEP_MS = 50
const CONCURRENCY = 16
const LONGEST = { max: 24 * 3_600_000 }

export function addDemo(program: Command, context: Context): void {
  const demo = program.command('demo').description('Create and run demo jobs')
  demo
    .command('producer')
    .description('Create demo jobs at a steady rate')
    .option('--rate <number>', 'jobs a second: 1 to 100,000; default 10', number, 10)
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

async function produce({ connect, out, signal }: Context, flags: ProducerFlags): Promise<void> {
  const rate = integerOption('rate', flags.rate, 1, RATE_MAX)
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
