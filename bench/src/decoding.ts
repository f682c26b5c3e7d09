/**
 * `pnpm bench:decoding`: where should what clients of a server ask be decoded? On the host's thread, as it is; in a gateway thread
 * between the host and the writer; or in the writer. The real frames, the real packing, real threads; the processor's time of each.
 */
import { once } from 'node:events'
import { isMainThread, MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { encodeData, newJobFrom, type Request } from '@millrace/core'
import { decodeMessage, encodeMessage, HEADER_BYTES } from '@millrace/wire'
import { type PackedRequests, packRequests, unpackRequests } from '../../packages/engine/src/ports/pack/requests.ts'
import { payloadOf } from './payload.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const WAYS = ['host', 'gateway', 'writer'] as const
type Way = (typeof WAYS)[number]

/** As a connection's bursts are: an enqueue and a complete for each job. */
const JOBS_PER_FRAME = 100
/** Sent before the writer is waited for. */
const FRAMES_PER_ROUND = 64
const ROUNDS = 60
const WARM_UP_ROUNDS = 20
const REPETITIONS = 5
const DATA_BYTES_MAX = 2 ** 20

/** Of a thread, when it is asked: the microseconds of the processor that it has had. */
type Question = 'micros' | 'end'

if (isMainThread) await compare()
else if (workerData.role === 'writer') beWriter(workerData.port)
else beGateway(workerData.port, workerData.to)

async function compare(): Promise<void> {
  const runs = new Map(WAYS.map((way) => [way, [] as number[][]]))
  for (let repetition = 0; repetition < REPETITIONS; repetition++) for (const way of WAYS) runs.get(way)?.push(await run(way))
  const rows = [...runs].map(([way, figures]) => [
    way,
    ...[0, 1, 2, 3].map((column) => median(figures.map((figure) => figure[column] as number)).toFixed(2)),
  ])
  process.stdout.write(`${markdown(['decoded in', 'host µs/job', 'gateway µs/job', 'writer µs/job', 'process µs/job'], rows)}\n`)
}

async function run(way: Way): Promise<number[]> {
  const { port1: host, port2 } = new MessageChannel()
  const middle = new MessageChannel()
  const start = (role: string, ports: Record<string, MessagePort>) =>
    new Worker(new URL(import.meta.url), { workerData: { role, ...ports }, transferList: Object.values(ports) })
  const writer = start('writer', { port: way === 'gateway' ? middle.port2 : port2 })
  const gateway = way === 'gateway' ? start('gateway', { port: port2, to: middle.port1 }) : undefined
  const frames = [requests('enqueue'), requests('complete')]
  let before: number[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    if (round === WARM_UP_ROUNDS) before = await spent(writer, gateway)
    const done = once(writer, 'message')
    for (let index = 0; index < FRAMES_PER_ROUND; index++) {
      // A socket's chunk is a block of its own.
      const payload = new Uint8Array(frames[index % 2] as Uint8Array)
      if (way === 'host') host.postMessage(packed(payload))
      else host.postMessage(payload, [payload.buffer])
    }
    await done
  }
  const after = await spent(writer, gateway)
  for (const thread of [writer, gateway]) thread?.postMessage('end' satisfies Question)
  await Promise.all([writer, gateway].map((thread) => thread && once(thread, 'exit')))
  const jobs = (ROUNDS * FRAMES_PER_ROUND * JOBS_PER_FRAME) / 2
  return after.map((micros, index) => (micros - (before[index] as number)) / jobs)
}

/** Of the host, the gateway, the writer, and of all threads with V8's own. */
async function spent(writer: Worker, gateway: Worker | undefined): Promise<number[]> {
  const ask = async (thread: Worker | undefined): Promise<number> => {
    if (thread === undefined) return 0
    const answered = once(thread, 'message')
    thread.postMessage('micros' satisfies Question)
    return ((await answered) as [number])[0]
  }
  const others = [await ask(gateway), await ask(writer)]
  return [threadMicros(), ...others, total(process.cpuUsage())]
}

function requests(op: 'enqueue' | 'complete'): Uint8Array {
  const all = Array.from({ length: JOBS_PER_FRAME }, (_, index): Request => {
    const data = encodeData('data', payloadOf(index), DATA_BYTES_MAX)
    return op === 'enqueue'
      ? { id: index, command: { op, jobs: [newJobFrom('thumbnail', data, undefined, undefined)] } }
      : { id: index, command: { op, seq: 70_000 + index, run: 1, output: null } }
  })
  return encodeMessage({ type: 'requests', requests: all }).subarray(HEADER_BYTES)
}

function decoded(payload: Uint8Array): readonly Request[] {
  const message = decodeMessage(payload, 'client')
  return message.type === 'requests' ? (message.requests as readonly Request[]) : []
}

function packed(payload: Uint8Array): PackedRequests {
  return packRequests(decoded(payload))
}

function beWriter(port: MessagePort): void {
  let frames = 0
  port.on('message', (message: PackedRequests | Uint8Array) => {
    const { length } = message instanceof Uint8Array ? decoded(message) : unpackRequests(message)
    if (length !== JOBS_PER_FRAME) throw new Error(`${length} requests came, not ${JOBS_PER_FRAME}`)
    if (++frames % FRAMES_PER_ROUND === 0) parentPort?.postMessage('done')
  })
  answer(port)
}

function beGateway(port: MessagePort, to: MessagePort): void {
  port.on('message', (payload: Uint8Array) => to.postMessage(packed(payload)))
  answer(port)
}

function answer(port: MessagePort): void {
  parentPort?.on('message', (question: Question) => {
    if (question === 'micros') parentPort?.postMessage(threadMicros())
    else {
      port.close()
      parentPort?.close()
    }
  })
}

function threadMicros(): number {
  return total(process.threadCpuUsage())
}

function total({ user, system }: { readonly user: number; readonly system: number }): number {
  return user + system
}
