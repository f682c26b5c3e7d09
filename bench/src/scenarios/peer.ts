/**
 * One task of another system, as the scenario of the same name asks it of the engine: the same payload, the same number in flight,
 * until the last completion is recorded. Its server is started for this run alone, and ended with it.
 */
import { dirname } from 'node:path'
import { type HandlerKind, handlerKind } from '../handlers.ts'
import { keepInFlight } from '../inFlight.ts'
import type { Figures, PeerTask, Scenario, Settings } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { indexOf, type Payload, payloadOf } from '../payload.ts'
import { PEERS } from '../peers/list.ts'
import { loadPackage } from '../peers/packages.ts'
import type { PeerHandler, PeerQueue } from '../peers/peer.ts'
import { quantile } from '../quantile.ts'

export const peer: Scenario = async (settings) => {
  const { file, durability, concurrency, packages, peer: name, task, handler } = settings
  const output = handlerKind(handler).needs === 'output'
  const found = PEERS.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`there is no peer '${name}': ${PEERS.map((candidate) => candidate.name).join(', ')}`)
  const server = await found.server?.start(dirname(file), durability)
  try {
    const load = <T>(wanted: string) => loadPackage<T>(wanted, packages)
    const queue = await found.open({ file, address: server?.address ?? '', durability, concurrency, output, load })
    const figures = await TASKS[task](queue, settings)
    await queue.close()
    return figures
  } finally {
    await server?.stop()
  }
}

const TASKS: Readonly<Record<PeerTask, (queue: PeerQueue, settings: Settings) => Promise<Figures>>> = {
  enqueue: async (queue, { jobs, inFlight }) => {
    const stop = startMeter()
    await keepInFlight(inFlight, jobs, (index) => queue.enqueue(payloadOf(index)))
    return stop(jobs)
  },
  bulk: async (queue, { jobs, inFlight, lot }) => {
    const stop = startMeter()
    await enqueueLots(queue, jobs, inFlight, lot)
    return stop(jobs)
  },
  drain: async (queue, { jobs, concurrency, inFlight, lot }) => {
    if (queue.enqueueMany === undefined) await keepInFlight(inFlight, jobs, (index) => queue.enqueue(payloadOf(index)))
    else await enqueueLots(queue, jobs, 1, lot)
    const tally = new Tally(jobs)
    const stop = startMeter()
    const worker = await queue.work(({ payload }) => tally.handled(payload), concurrency)
    await tally.all
    await worker.stop()
    const figures = stop(jobs)
    tally.check()
    return figures
  },
  endToEnd: async (queue, { jobs, inFlight, concurrency, handler }) => {
    const kind = handlerKind(handler)
    const { payload: payloadFor = payloadOf } = kind
    const tally = new Tally(jobs)
    const stop = startMeter()
    const worker = await queue.work(
      peerHandler(kind, (payload) => tally.handled(payload)),
      concurrency,
    )
    await keepInFlight(inFlight, jobs, (index) => queue.enqueue(payloadFor(index)))
    await tally.all
    await worker.stop()
    const figures = stop(jobs)
    tally.check()
    return figures
  },
  idle: async (queue, { jobs }) => {
    let started = (_: Payload): void => {}
    const tally = new Tally(jobs)
    const worker = await queue.work(({ payload }) => {
      tally.handled(payload)
      started(payload)
    }, 1)
    const micros: number[] = []
    for (let job = 0; job < jobs; job++) {
      const beginMs = performance.now()
      const start = new Promise<number>((resolve) => {
        started = () => resolve(performance.now())
      })
      const answered = queue.enqueue(payloadOf(job))
      micros.push(((await start) - beginMs) * 1_000)
      await answered
      // Its completion too is over before the next one comes.
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    await worker.stop()
    tally.check()
    return { p50Micros: quantile(micros, 0.5), p99Micros: quantile(micros, 0.99) }
  },
}

const PAUSE_MS = 5

function peerHandler({ name, peer: handler }: HandlerKind, handled: (payload: Payload) => void): PeerHandler {
  if (typeof handler === 'string') throw new Error(`no peer runs the handler '${name}': ${handler}`)
  return handler(handled)
}

function enqueueLots(queue: PeerQueue, jobs: number, inFlight: number, lot: number): Promise<void> {
  return keepInFlight(inFlight, Math.ceil(jobs / lot), async (index) => {
    const first = index * lot
    const size = Math.min(lot, jobs - first)
    await queue.enqueueMany?.(Array.from({ length: size }, (_, place) => payloadOf(first + place)))
  })
}

/** Which jobs were handled: each once, and all. */
class Tally {
  readonly all: Promise<void>
  readonly #seen: Uint8Array
  #distinct = 0
  #again = 0
  #resolve: () => void

  constructor(jobs: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.all = promise
    this.#resolve = resolve
    this.#seen = new Uint8Array(jobs)
  }

  handled(payload: Payload): void {
    const index = indexOf(payload)
    if (this.#seen[index] === 1) this.#again++
    else {
      this.#seen[index] = 1
      this.#distinct++
    }
    if (this.#distinct === this.#seen.length) this.#resolve()
  }

  check(): void {
    if (this.#again > 0) throw new Error(`${this.#again} jobs were handled more than once`)
    if (this.#distinct !== this.#seen.length) throw new Error(`${this.#distinct} of ${this.#seen.length} jobs were handled`)
  }
}
