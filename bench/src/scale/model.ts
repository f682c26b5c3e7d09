/**
 * A model of many owners: each takes one turn after the other, as the engine does; processors of machines and servers are queues with so many
 * places; a server's disk syncs for all commits that wait for it at once. Time is simulated.
 */
import type { Constants } from './measure.ts'

export interface World {
  readonly owners: number
  /** Machines on which owners run, evenly. */
  readonly machines: number
  readonly cores: number
  /** Servers of Postgres, over which the schemas are spread evenly. */
  readonly servers: number
  readonly serverCores: number
  /** True if the server runs on the owners' machine, as in the measurement: there is one of each. */
  readonly together?: boolean
  /** Jobs that each owner has in flight. */
  readonly inFlight: number
  /** Jobs that come to each owner in a second; undefined: each job that ends is followed by another at once. */
  readonly rate: number | undefined
  /** True if workers are behind sockets. */
  readonly sockets: boolean
  readonly constants: Constants
  /** Simulated time. */
  readonly seconds: number
}

export interface Outcome {
  readonly jobsPerSecond: number
  /** From the arrival of a job to the commit of its completion, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** The share of time in which processors of machines and of servers were busy. */
  readonly machineLoad: number
  readonly serverLoad: number
}

/** As `LIMITS.jobsPerTurn`. */
const JOBS_PER_TURN = 1_000
/** A job is in two turns: in one it is enqueued and starts, in a later one it completes. */
const TURNS_OF_A_JOB = 2

/** Processors with a queue, first come, first served. */
class Processors {
  readonly #freeAt: number[]
  busyMs = 0

  constructor(places: number) {
    this.#freeAt = Array(places).fill(0)
  }

  /** Returns when work that is there at a time is done. */
  run(atMs: number, workMs: number): number {
    let place = 0
    for (let index = 1; index < this.#freeAt.length; index++)
      if ((this.#freeAt[index] as number) < (this.#freeAt[place] as number)) place = index
    const doneMs = Math.max(atMs, this.#freeAt[place] as number) + workMs
    this.#freeAt[place] = doneMs
    this.busyMs += workMs
    return doneMs
  }
}

/** A disk that syncs for all that wait when it begins. */
class Disk {
  readonly #syncMs: number
  #beganMs = Number.NEGATIVE_INFINITY

  constructor(syncMs: number) {
    this.#syncMs = syncMs
  }

  sync(atMs: number): number {
    const endMs = this.#beganMs + this.#syncMs
    // The one that goes on does not cover it: it waits for the next one.
    if (atMs > this.#beganMs) this.#beganMs = Math.max(atMs, endMs)
    return this.#beganMs + this.#syncMs
  }
}

interface Owner {
  readonly machine: Processors
  readonly server: Processors
  readonly disk: Disk
  /** Arrival times of jobs that wait for their first turn, and of those that wait for their last. */
  readonly arriving: number[]
  readonly ending: number[]
}

/** Events in order of time: a binary heap. */
class Agenda {
  readonly #heap: { readonly atMs: number; readonly act: (atMs: number) => void }[] = []

  add(atMs: number, act: (atMs: number) => void): void {
    const heap = this.#heap
    let index = heap.length
    heap.push({ atMs, act })
    while (index > 0) {
      const parent = (index - 1) >> 1
      if ((heap[parent] as { atMs: number }).atMs <= atMs) break
      heap[index] = heap[parent] as (typeof heap)[number]
      index = parent
    }
    heap[index] = { atMs, act }
  }

  next(): { readonly atMs: number; readonly act: (atMs: number) => void } | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && (heap[child + 1] as typeof last).atMs < (heap[child] as typeof last).atMs) child++
      if ((heap[child] as typeof last).atMs >= last.atMs) break
      heap[index] = heap[child] as typeof last
      index = child
    }
    heap[index] = last
    return first
  }
}

export function simulate(world: World, random: () => number): Outcome {
  const { owners: count, machines, cores, servers, serverCores, constants, seconds, inFlight, rate, sockets, together = false } = world
  const endMs = seconds * 1_000
  const hosts = Array.from({ length: machines }, () => new Processors(cores))
  const stores = Array.from({ length: servers }, () => ({
    server: together ? (hosts[0] as Processors) : new Processors(serverCores),
    disk: new Disk(constants.syncMs),
  }))
  const agenda = new Agenda()
  const latencies: number[] = []
  const ownerJobMs = (constants.ownerJob + (sockets ? constants.socketJob : 0)) / 1_000 / TURNS_OF_A_JOB
  const serverJobMs = constants.serverJob / 1_000 / TURNS_OF_A_JOB

  const take = (owner: Owner, atMs: number): void => {
    const ending = owner.ending.splice(0, JOBS_PER_TURN)
    const arriving = owner.arriving.splice(0, JOBS_PER_TURN)
    const jobs = ending.length + arriving.length
    const decidedMs = owner.machine.run(atMs, constants.ownerTurn / 1_000 + jobs * ownerJobMs)
    const writtenMs = owner.server.run(decidedMs, constants.serverTurn / 1_000 + jobs * serverJobMs)
    agenda.add(writtenMs, (now) => agenda.add(owner.disk.sync(now), (committed) => finish(owner, arriving, ending, committed)))
  }
  const finish = (owner: Owner, arriving: readonly number[], ending: readonly number[], atMs: number): void => {
    owner.ending.push(...arriving)
    for (const arrivedMs of ending) {
      latencies.push(atMs - arrivedMs)
      if (rate === undefined) owner.arriving.push(atMs)
    }
    if (owner.ending.length + owner.arriving.length > 0) take(owner, atMs)
    else idle.add(owner)
  }
  const idle = new Set<Owner>()
  const arrive = (owner: Owner, atMs: number): void => {
    owner.arriving.push(atMs)
    agenda.add(atMs - (Math.log(1 - random()) * 1_000) / (rate as number), (now) => arrive(owner, now))
    if (idle.delete(owner)) take(owner, atMs)
  }

  for (let index = 0; index < count; index++) {
    const owner: Owner = {
      machine: hosts[index % machines] as Processors,
      ...(stores[index % servers] as { server: Processors; disk: Disk }),
      ...{ arriving: [], ending: [] },
    }
    // They begin at different times.
    const atMs = random() * 10
    if (rate !== undefined) {
      idle.add(owner)
      agenda.add(atMs, (now) => arrive(owner, now))
    } else {
      owner.arriving.push(...Array<number>(inFlight).fill(atMs))
      agenda.add(atMs, (now) => take(owner, now))
    }
  }
  for (let event = agenda.next(); event !== undefined && event.atMs < endMs; event = agenda.next()) event.act(event.atMs)

  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  // Work that has been given out may end later.
  const load = (of: readonly Processors[], places: number) =>
    Math.min(1, of.reduce((sum, { busyMs }) => sum + busyMs, 0) / (of.length * places * endMs))
  return {
    ...{ jobsPerSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) },
    machineLoad: load(hosts, cores),
    serverLoad: load(
      stores.map(({ server }) => server),
      serverCores,
    ),
  }
}

/** The facts that decide how long a takeover takes, in milliseconds. */
export interface TakeoverConstants {
  /** Processor time to become the owner of a schema. */
  readonly startMs: number
  /** The pause of candidates between two looks, on average. */
  readonly pauseMs: number
  /** The time after which the server ends the session of a machine that has vanished. */
  readonly silenceMs: number
}

/**
 * Returns when the last schema of a machine has an owner again, which the other machines share. A machine whose processes are killed says so; one
 * that vanishes does not.
 */
export function takeoverMs(
  { owners, machines, cores }: Pick<World, 'owners' | 'machines' | 'cores'>,
  { startMs, pauseMs, silenceMs }: TakeoverConstants,
  kind: 'killed' | 'vanished',
): number {
  const orphans = Math.ceil(owners / machines)
  const others = new Processors(Math.max(1, machines - 1) * cores)
  const foundMs = (kind === 'killed' ? 0 : silenceMs) + pauseMs
  let last = 0
  for (let index = 0; index < orphans; index++) last = Math.max(last, others.run(foundMs, startMs))
  return last
}
