/**
 * `pnpm bench:scale`: measures what a turn, a job, a socket, the inbox and a commit cost on this machine, and models from that how many owners
 * of schemas behave on many machines. It prints what is measured before what is modelled.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildAll } from '../../test/built.ts'
import { countFlag, secondsFlag } from './amounts.ts'
import { commit, machineOf, versions } from './machine.ts'
import { type Beside, CLIENTS, OTHER_JOBS, SLOW_SYNC_MS } from './scale/beside.ts'
import type { Constants, Measured } from './scale/measure.ts'
import { type Outcome, simulate, takeoverMs, type World } from './scale/model.ts'
import { markdown } from './table.ts'

const HELP = `pnpm bench:scale [flags]

Measures one owner on this machine, and models many on many machines.

  --machines N      machines for owners (20)
  --cores N         processors of each (8)
  --servers N       servers of Postgres (1)
  --server-cores N  processors of each (32)
  --workers N       workers, over all owners (100k)
  --sync-ms N       milliseconds that a commit waits for the disk of a server (as measured here)
  --owners N        the most owners (1000)
  --jobs N          jobs of each measurement (50k)
  --held 20m        the time that a transaction stays open beside jobs (three floods of jobs)
`

const OWNERS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000]
const RUN = fileURLToPath(new URL('./scale/run.ts', import.meta.url))
const LONE_JOBS = 2_000
/** Jobs in a second for each owner, in the table of latencies. */
const RATE = 50
/** The bytes that an idle worker behind a socket takes, as the experiment `idleWorkers` measures it. */
const WORKER_BYTES = 35_000
/** Candidates look every 50 to 250 ms, and the server ends a session that is silent for 10 s. */
const TAKEOVER = { pauseMs: 150, silenceMs: 10_000 }

const { values } = parseArgs({
  options: {
    machines: { type: 'string', default: '20' },
    cores: { type: 'string', default: '8' },
    servers: { type: 'string', default: '1' },
    'server-cores': { type: 'string', default: '32' },
    workers: { type: 'string', default: '100k' },
    'sync-ms': { type: 'string' },
    owners: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: '50k' },
    held: { type: 'string', default: '0s' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(HELP)
else await main()

async function main(): Promise<void> {
  const say = (text: string) => void process.stdout.write(`${text}\n`)
  const jobs = countFlag('jobs', values.jobs)
  const { constants: measured, beside } = await measure(jobs, secondsFlag('held', values.held))
  const constants = values['sync-ms'] === undefined ? measured : { ...measured, syncMs: Number(values['sync-ms']) }
  say(heading())
  say(`\n## Measured\n\n${constantsTable(measured)}\n\n${besideTable(beside)}`)
  say(`\n## Modelled\n\n${checkOf(measured)}`)
  const shape = {
    machines: countFlag('machines', values.machines),
    cores: countFlag('cores', values.cores),
    servers: countFlag('servers', values.servers),
    serverCores: countFlag('server-cores', values['server-cores']),
    ...{ inFlight: 500, sockets: true, constants },
  }
  const { machines, cores, servers, serverCores } = shape
  say(`\n${machines} machines of ${cores} processors for owners, ${servers} of ${serverCores} for Postgres; workers behind sockets:\n`)
  const most = countFlag('owners', values.owners)
  const counts = OWNERS.filter((owners) => owners <= most)
  say(manyTable(shape, counts, countFlag('workers', values.workers)))
}

/** Measures in a process that loads what is published: its threads start as they do where the packages are installed. */
async function measure(jobs: number, heldSeconds: number): Promise<Measured> {
  await buildAll()
  const args = ['--conditions=millrace-dist', RUN, String(LONE_JOBS), String(jobs), String(heldSeconds)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return (await json(child.stdout)) as Measured
}

function heading(): string {
  const machine = Object.values(machineOf('.')).join(', ')
  return `commit ${commit()}; ${machine}; ${Object.entries(versions()).flat().join(' ')}`
}

function constantsTable(constants: Constants): string {
  const micros = (value: number) => `${value.toFixed(1)} µs`
  const {
    ownerTurn,
    serverTurn,
    ownerJob,
    serverJob,
    socketJob,
    inboxOwner,
    inboxServer,
    ownerStart,
    syncMs,
    jobsPerSecond,
    takeoverMs: taken,
    vanishedMs: vanished,
  } = constants
  return markdown(
    ['what', "owner's process", 'server'],
    [
      ['a turn without its jobs', micros(ownerTurn), micros(serverTurn)],
      ['a whole job: enqueued, run, completed', micros(ownerJob), micros(serverJob)],
      ['more if its worker is behind a socket', micros(socketJob), ''],
      ['an entry of the inbox', micros(inboxOwner), micros(inboxServer)],
      ['to become the owner', `${(ownerStart / 1_000).toFixed(0)} ms`, ''],
      ['a commit waits for the disk', '', `${syncMs.toFixed(2)} ms`],
      ['a takeover after kill -9, p50 and the longest', `${taken.p50.toFixed(0)} ms, ${taken.most.toFixed(0)} ms`, ''],
      ['the same when its machine is gone', `${vanished.p50.toFixed(0)} ms, ${vanished.most.toFixed(0)} ms`, ''],
      ['whole jobs, both on this machine', `${Math.round(jobsPerSecond).toLocaleString('en')}/s`, ''],
    ],
  )
}

function besideTable({ others, heldHorizon, clients, idleCommits, slowIdleCommits }: Beside): string {
  const held = values.held === '0s' ? 'meanwhile, in the fourth flood' : `for ${values.held}`
  return markdown(
    ['whole jobs in a second', 'share of the same without it'],
    [
      [`beside ${OTHER_JOBS.toLocaleString('en')} waiting jobs of another name`, others.toFixed(2)],
      [`beside a transaction that stays open ${held}`, heldHorizon.toFixed(2)],
      [`produced and run by ${CLIENTS} client processes, by sockets`, clients.toFixed(2)],
      ['a lone job from `enqueue` to its handler, in commits of one row', idleCommits.toFixed(2)],
      [`the same where a commit waits ${SLOW_SYNC_MS} ms for the disk`, slowIdleCommits.toFixed(2)],
    ],
  )
}

/** One owner and its server on this machine, which can be measured as well. */
function checkOf(constants: Constants): string {
  const cores = availableParallelism()
  const alone = {
    owners: 1,
    machines: 1,
    cores,
    servers: 1,
    serverCores: cores,
    together: true,
    sockets: false,
    inFlight: 500,
    seconds: 10,
  }
  const { jobsPerSecond } = simulate({ ...alone, rate: undefined, constants }, generator())
  const share = jobsPerSecond / constants.jobsPerSecond
  return `The model of this machine does ${Math.round(jobsPerSecond).toLocaleString('en')} jobs/s, ${share.toFixed(2)} of what was measured.`
}

type Shape = Pick<World, 'machines' | 'cores' | 'servers' | 'serverCores' | 'inFlight' | 'sockets' | 'constants'>

function manyTable(shape: Shape, counts: readonly number[], workers: number): string {
  const rows = counts.map((owners) => {
    // Long enough for many turns of each, short enough for a thousand owners.
    const seconds = Math.max(1, Math.min(10, 300 / owners))
    const flood = simulate({ ...shape, owners, rate: undefined, seconds }, generator())
    const calm = simulate({ ...shape, owners, rate: RATE, seconds: 5 }, generator())
    return rowOf(shape, owners, flood, calm, workers)
  })
  return markdown(
    [
      ...['owners', 'jobs/s, flat out', 'of each', 'p50, p99', 'machines, servers busy', `p50, p99 at ${RATE} jobs/s each`],
      ...['last takeover: killed, vanished', 'workers of each', 'memory for them'],
    ],
    rows,
  )
}

function rowOf(shape: Shape, owners: number, flood: Outcome, calm: Outcome, workers: number): readonly string[] {
  const number = (value: number) => Math.round(value).toLocaleString('en')
  const ms = (value: number) => `${value < 10 ? value.toFixed(1) : number(value)} ms`
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const each = Math.ceil(workers / owners)
  const start = { ...TAKEOVER, startMs: shape.constants.ownerStart / 1_000 }
  const takeover = (kind: 'killed' | 'vanished') => `${(takeoverMs({ ...shape, owners }, start, kind) / 1_000).toFixed(1)} s`
  return [
    ...[number(owners), number(flood.jobsPerSecond), number(flood.jobsPerSecond / owners), `${ms(flood.p50)}, ${ms(flood.p99)}`],
    ...[`${percent(flood.machineLoad)}, ${percent(flood.serverLoad)}`, `${ms(calm.p50)}, ${ms(calm.p99)}`],
    ...[`${takeover('killed')}, ${takeover('vanished')}`, number(each), `${number((each * WORKER_BYTES) / 1e6)} MB`],
  ]
}

/** mulberry32: each row has the same luck. */
function generator(): () => number {
  let state = 28
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}
