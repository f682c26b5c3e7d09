/** Measures on this machine what the model of many owners is built from. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import pg from 'pg'
import { noop } from '../jobs.ts'
import { payloadOf } from '../payload.ts'
import { postgres } from '../peers/servers/postgres.ts'
import { quantile } from '../quantile.ts'
import { type Beside, measureBeside } from './beside.ts'
import { wholeJobs } from './jobs.ts'
import { takeovers } from './takeovers.ts'

/** Microseconds of processor time, but for the last two. */
export interface Constants {
  /** A turn of an owner without its jobs, in its process and in the server. */
  readonly ownerTurn: number
  readonly serverTurn: number
  /** A whole job: enqueued, run and completed. */
  readonly ownerJob: number
  readonly serverJob: number
  /** The addition for a worker behind a socket, in the owner's process. */
  readonly socketJob: number
  /** Reading an entry of the inbox and making a job of it, in the owner's process and in the server, which also inserts it. */
  readonly inboxOwner: number
  readonly inboxServer: number
  /** Opening a schema that is there as its owner, in the owner's process. */
  readonly ownerStart: number
  /** Milliseconds from `kill -9` of an owner until another process has a job acknowledged: half of the times, and the longest. */
  /** After `kill -9`. */
  readonly takeoverMs: { readonly p50: number; readonly most: number }
  /** After the owner stands still, as if its machine were gone. */
  readonly vanishedMs: { readonly p50: number; readonly most: number }
  /** Whole jobs in a second, by an owner and a server on this machine. */
  readonly jobsPerSecond: number
  /** Milliseconds that a commit waits for the disk. */
  readonly syncMs: number
}

export interface Amounts {
  readonly lone: number
  readonly jobs: number
  /** The time that a transaction stays open beside jobs, in seconds; 0 for three floods of jobs. */
  readonly heldSeconds: number
}

const TAG = 'scaled'
const TAKEOVERS = 15
const VANISHED = 3
const CLOCK_TICK_MICROS = 10_000

export interface Measured {
  readonly constants: Constants
  readonly beside: Beside
}

/** @throws Error if this machine has no Postgres, or does not tell processor times in /proc */
export async function measure(amounts: Amounts, said: (what: string) => void): Promise<Measured> {
  const missing = postgres.missing()
  if (missing !== undefined) throw new Error(missing)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-scale-'))
  // The server's user gets the folder that its own is in.
  const place = join(folder, 'server')
  mkdirSync(place)
  const server = await postgres.start(place, 'full')
  try {
    return {
      constants: await measureConstants(server.address, amounts, said),
      beside: await measureBeside(server.address, amounts, said),
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureConstants(address: string, { lone, jobs }: Amounts, said: (what: string) => void): Promise<Constants> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    said('takeovers')
    const taken = await takeovers(address, TAKEOVERS, 'SIGKILL')
    const vanished = await takeovers(address, VANISHED, 'SIGSTOP')
    const start = process.cpuUsage()
    await using engine = await openEngine({ postgres: address, logger: false })
    const started = process.cpuUsage(start)
    const meter = new Meter(client)
    said('turns')
    const latencies: number[] = []
    const turns = await meter.of(async () => {
      for (let index = 0; index < lone; index++) {
        const from = performance.now()
        await engine.enqueue(noop, payloadOf(index, TAG))
        latencies.push(performance.now() - from)
      }
    })
    const [ownerTurn, serverTurn] = [turns.owner / lone, turns.server / lone]
    said('whole jobs')
    await wholeJobs(engine, engine, jobs / 10)
    let jobsPerSecond = 0
    const whole = await meter.of(async () => {
      jobsPerSecond = await wholeJobs(engine, engine, jobs)
    })
    const perJob = (used: Used): readonly [number, number] => [
      (used.owner - used.turns * ownerTurn) / jobs,
      (used.server - used.turns * serverTurn) / jobs,
    ]
    const [ownerJob, serverJob] = perJob(whole)
    said('whole jobs by a socket')
    const bySocket = await meter.of(async () => {
      await using listening = await listen(engine, 'tcp://127.0.0.1:0')
      await using remote = await connect(listening.url)
      await wholeJobs(engine, remote, jobs)
    })
    said('the inbox')
    const inbox = await meter.of(async () => {
      const before = (await engine.stats()).totals.enqueued
      for (let at = 0; at < jobs; at += 1_000) await client.query(`SELECT millrace.enqueue('inbox', '"x"') FROM generate_series(1, 1000)`)
      while ((await engine.stats()).totals.enqueued < before + jobs) await new Promise((done) => setTimeout(done, 5))
    })
    const [inboxOwner, inboxServer] = perJob(inbox)
    return {
      ...{ ownerTurn, serverTurn, ownerJob, serverJob, inboxOwner, inboxServer, jobsPerSecond },
      takeoverMs: { p50: quantile(taken, 0.5), most: Math.max(...taken) },
      vanishedMs: { p50: quantile(vanished, 0.5), most: Math.max(...vanished) },
      ownerStart: started.user + started.system,
      // Both ends run in this process.
      socketJob: Math.max(0, perJob(bySocket)[0] - ownerJob) / 2,
      syncMs: Math.max(0, quantile(latencies, 0.5) - (ownerTurn + serverTurn) / 1_000),
    }
  } finally {
    await client.end()
  }
}

/** Microseconds of processor time, and the turns that were taken. */
interface Used {
  readonly owner: number
  readonly server: number
  readonly turns: number
}

class Meter {
  readonly #client: pg.Client

  constructor(client: pg.Client) {
    this.#client = client
  }

  async of(work: () => Promise<void>): Promise<Used> {
    const [before, from] = [await this.#now(), process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(from)
    const after = await this.#now()
    return { owner: user + system, server: after.server - before.server, turns: after.turns - before.turns }
  }

  /** All processes of the server count, but for the one that is asked. */
  async #now(): Promise<{ readonly server: number; readonly turns: number }> {
    const { rows } = await this.#client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    const { rows: turns } = await this.#client.query<{ turn: string }>('SELECT max(turn) AS turn FROM millrace.journal')
    return { server: rows.reduce((sum, { pid }) => sum + timeOf(pid), 0), turns: Number(turns[0]?.turn) }
  }
}

function timeOf(pid: number): number {
  // Behind the name, which may have spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MICROS
}
