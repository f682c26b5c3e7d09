/**
 * `pnpm bench:dashboard [SECONDS] [TURNS]`: the cost of an open overview. The processor time of a server that runs jobs at a steady rate,
 * with and without an overview that is open, in turns; then jobs per second at full speed, with and without.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { defineJob, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { payloadOf } from './payload.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const QUEUES = ['mail', 'billing', 'media', 'search', 'reports', 'orders']
const WORKERS = 4
const KEPT = 30_000
/** Jobs per second while the processor time is measured. */
const STEADY = 200
const STEP_MS = 50
const FULL_SPEED = 20_000
const TOKEN = 'a-token-of-the-bench-0123456789'

const seconds = Number(process.argv[2] ?? 30)
const turns = Number(process.argv[3] ?? 3)
if (!(seconds > 0) || !Number.isInteger(turns) || turns < 1)
  throw new RangeError(`SECONDS must be above 0 and TURNS a whole number of at least 1, got ${seconds} and ${turns}`)

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const engine = await openEngine({ file: join(folder, 'jobs.db'), durability: 'normal' })
const jobs = QUEUES.map((queue) => defineJob<unknown>({ name: `work-${queue}`, queue, maxAttempts: 1 }))
for (let worker = 0; worker < WORKERS; worker++)
  engine.work(
    jobs.map((job) => job.handler(() => {})),
    { id: `worker-${worker}`, concurrency: 16 },
  )
const server = createServer(getRequestListener(createHttp(engine, { token: TOKEN }).fetch)).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

await run(KEPT)
const cpu: Record<string, number[]> = { closed: [], open: [] }
const speed: Record<string, number[]> = { closed: [], open: [] }
for (let turn = 0; turn < turns; turn++) {
  for (const state of ['closed', 'open'] as const) {
    const viewer = state === 'open' ? await openViewer() : undefined
    cpu[state]?.push(await steadyCpu())
    speed[state]?.push(await run(FULL_SPEED))
    viewer?.kill()
  }
}

const [closed = Number.NaN, open = Number.NaN] = ['closed', 'open'].map((state) => median(cpu[state] as number[]))
const rows = ['closed', 'open'].map((state) => [
  `overview ${state}`,
  `${median(cpu[state] as number[]).toFixed(2)} %`,
  Math.round(median(speed[state] as number[])).toLocaleString('en-US'),
])
process.stdout.write(`${markdown(['', `of a core at ${STEADY} jobs per second`, 'jobs per second at full speed'], rows)}\n\n`)
process.stdout.write(`an open overview: ${(open - closed).toFixed(2)} % of a core\n`)

server.closeAllConnections()
server.close()
await engine.stop()
rmSync(folder, { recursive: true })

async function openViewer(): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('overviewViewer.ts', import.meta.url))
  const viewer = spawn(process.execPath, [program, origin, TOKEN], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(viewer.stdout, 'data')
  return viewer
}

/** Returns the share of a core, in percent, that this process takes at a steady rate of jobs. */
async function steadyCpu(): Promise<number> {
  const before = process.cpuUsage()
  const beganMs = performance.now()
  const each = (STEADY * STEP_MS) / 1_000
  const feeder = setInterval(() => void enqueue(each), STEP_MS)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  clearInterval(feeder)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 10 / (performance.now() - beganMs)
}

/** Returns jobs per second, from the first enqueue to the end of the last. */
async function run(count: number): Promise<number> {
  const beganMs = performance.now()
  const handles = []
  for (let made = 0; made < count; made += 1_000) handles.push(...(await enqueue(1_000)))
  await Promise.all(handles.map((handle) => handle.result({ timeout: '5m' })))
  return (count / (performance.now() - beganMs)) * 1_000
}

function enqueue(count: number) {
  return engine.enqueueMany(
    Array.from({ length: count }, (_, place) => ({ job: jobs[place % jobs.length] as (typeof jobs)[number], data: payloadOf(place) })),
  )
}
