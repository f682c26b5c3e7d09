/** Measures the jobs in a second beside other jobs, beside a transaction that stays open, and with clients in processes of their own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DEFAULT_RETENTION } from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import pg from 'pg'
import { noop } from '../jobs.ts'
import { payloadOf } from '../payload.ts'
import { median, quantile } from '../quantile.ts'
import { wholeJobs } from './jobs.ts'

/** Each as a share of the same without it, in turns; medians. */
export interface Beside {
  readonly others: number
  readonly heldHorizon: number
  readonly clients: number
  /** The latency of a lone `enqueue` until its handler runs, in commits of one row by the same server. */
  readonly idleCommits: number
  /** The same where each commit waits for a disk of `SLOW_SYNC_MS`. */
  readonly slowIdleCommits: number
}

export const OTHER_JOBS = 1_000_000
/** The completed jobs that a queue keeps by default. */
const KEPT_JOBS = DEFAULT_RETENTION.completed.count
export const CLIENTS = 8
const ROUNDS = 3
const LONE = 1_000
/** A sync of a disk across a network. */
export const SLOW_SYNC_MS = 2
const LOT = 10_000
const LOOK_MS = 5
const SECOND_MS = 1_000
const MILLISECOND_MICROS = 1_000
const CLIENT = fileURLToPath(new URL('./client.ts', import.meta.url))
const TAG = 'beside'

/**
 * @param jobs of each run
 * @param heldSeconds the seconds that a transaction stays open, in one round; 0 for three floods of jobs, in three rounds
 */
export async function measureBeside(
  address: string,
  { jobs, heldSeconds }: { readonly jobs: number; readonly heldSeconds: number },
  said: (what: string) => void,
): Promise<Beside> {
  await using engine = await openEngine({ postgres: address, logger: false })
  await wholeJobs(engine, engine, jobs)
  said('lone jobs beside commits')
  const idleCommits = await idle(engine, address)
  const slowIdleCommits = await slowed(address, () => idle(engine, address))
  said('a transaction that stays open')
  const heldHorizon =
    heldSeconds > 0
      ? await heldFor(engine, address, jobs, heldSeconds)
      : await inTurns(engine, jobs, async () => median(await held(engine, address, { jobs, seconds: 0, floods: 1 })))
  said(`${CLIENTS} client processes`)
  const clients = await inTurns(engine, jobs, () => byClients(engine, address, jobs))
  said(`${OTHER_JOBS.toLocaleString('en')} other jobs`)
  const before = median(await times(ROUNDS, () => wholeJobs(engine, engine, jobs)))
  for (let at = 0; at < OTHER_JOBS; at += LOT)
    await engine.enqueueMany(Array.from({ length: LOT }, (_, index) => ({ job: 'other', data: payloadOf(index, TAG) })))
  const others = median(await times(ROUNDS, () => wholeJobs(engine, engine, jobs))) / before
  return { others, heldHorizon, clients, idleCommits, slowIdleCommits }
}

async function inTurns(engine: Engine, jobs: number, run: () => Promise<number>): Promise<number> {
  const shares: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await wholeJobs(engine, engine, jobs)
    shares.push((await run()) / alone)
  }
  return median(shares)
}

async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  const results: number[] = []
  for (let index = 0; index < count; index++) results.push(await run())
  return results
}

/** Compares the end with the time before, in which retention already deletes as many jobs as come. */
async function heldFor(engine: Engine, address: string, jobs: number, seconds: number): Promise<number> {
  for (let done = 0; done < KEPT_JOBS; done += jobs) await wholeJobs(engine, engine, jobs)
  const alone = median(await times(ROUNDS, () => wholeJobs(engine, engine, jobs)))
  return median(await held(engine, address, { jobs, seconds, floods: ROUNDS })) / alone
}

interface Held {
  /** The jobs of each flood. */
  readonly jobs: number
  readonly seconds: number
  /** The floods that are measured, once the time is over. */
  readonly floods: number
}

async function held(engine: Engine, address: string, { jobs, seconds, floods }: Held): Promise<number[]> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT count(*) FROM pg_class')
  // The first floods leave dead rows for the last ones.
  const untilMs = performance.now() + seconds * SECOND_MS
  for (let flood = 0; flood < ROUNDS || performance.now() < untilMs; flood++) await wholeJobs(engine, engine, jobs)
  const rates = await times(floods, () => wholeJobs(engine, engine, jobs))
  await client.query('COMMIT')
  await client.end()
  return rates
}

async function byClients(engine: Engine, address: string, jobs: number): Promise<number> {
  const each = Math.ceil(jobs / CLIENTS)
  const clients = Array.from({ length: CLIENTS }, () =>
    spawn(process.execPath, [...process.execArgv, CLIENT, address, `${each}`, `${CLIENTS}`], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const completed = async () => (await engine.stats()).totals.completed
  const before = await completed()
  await Promise.all(clients.map(({ stdout }) => once(stdout, 'data')))
  const from = performance.now()
  for (const { stdin } of clients) stdin.write('begin\n')
  while ((await completed()) < before + each * CLIENTS) await new Promise((done) => setTimeout(done, LOOK_MS))
  const rate = ((each * CLIENTS) / (performance.now() - from)) * 1_000
  const ended = clients.map((client) => once(client, 'exit'))
  for (const client of clients) client.kill('SIGKILL')
  await Promise.all(ended)
  return rate
}

/** Runs while the server lets each commit wait as for a slow disk. The server must be this program's own. */
async function slowed<Value>(address: string, run: () => Promise<Value>): Promise<Value> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  const tell = async (...changes: readonly string[]) => {
    for (const change of changes) await client.query(`ALTER SYSTEM ${change}`)
    await client.query('SELECT pg_reload_conf()')
  }
  // By default a commit waits only if others are open.
  await tell(`SET commit_delay = ${SLOW_SYNC_MS * MILLISECOND_MICROS}`, 'SET commit_siblings = 0')
  try {
    return await run()
  } finally {
    await tell('RESET commit_delay', 'RESET commit_siblings')
    await client.end()
  }
}

/** Lone jobs and lone commits, in turns of ten. */
async function idle(engine: Engine, address: string): Promise<number> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query('CREATE TABLE bench_commit (id bigint PRIMARY KEY, data text)')
  let heard = () => {}
  const worker = engine.work(noop.handler(() => heard()))
  const [jobs, commits]: [number[], number[]] = [[], []]
  for (let index = 0; index < LONE; index++) {
    const from = performance.now()
    if (index % 20 < 10) {
      const handled = new Promise<void>((resolve) => {
        heard = resolve
      })
      await engine.enqueue(noop, payloadOf(index, TAG))
      await handled
      jobs.push(performance.now() - from)
    } else {
      await client.query({
        name: 'commit',
        text: 'INSERT INTO bench_commit VALUES ($1, $2)',
        values: [index, JSON.stringify(payloadOf(index, TAG))],
      })
      commits.push(performance.now() - from)
    }
  }
  await worker.stop()
  await client.query('DROP TABLE bench_commit')
  await client.end()
  return quantile(jobs, 0.5) / quantile(commits, 0.5)
}
