/** The keys that queues limit or pause: found by their jobs, counted, and removed when nothing of them is left. */
import { dataBytes, type Job } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { type Gate, isFar, isIdle, type Key, newGate, newKey } from './gate.ts'
import { KeyBuckets } from './keyBuckets.ts'
import type { Lane, Queue } from './lane.ts'

/** The number of parked jobs of one gate kept in memory, and the largest payload of one. */
export const BACKLOG_JOBS = 8
const GATE_DATA = 16 * 1024

export class Keys {
  readonly gatesById = new Map<number, Gate>()
  /** Gates that may let a parked job go. */
  readonly releasable = new Set<Gate>()
  /** Roomy gates whose parked jobs are only on disk. */
  readonly needRefill = new Set<Gate>()
  /** Lanes that have gained jobs in their windows, in queues that limit or pause keys. */
  readonly overfilled = new Set<Lane>()
  /** Gates that only count jobs on disk, the one that has been idle longest first. */
  readonly far = new Set<Gate>()
  readonly buckets = new KeyBuckets()
  /** Keys in queues that keep an order, whose turn may now be another job's. The store is to be asked. */
  readonly turns = new Set<Key>()
  #nextGate = 1

  /** Begins to limit or pause keys of the queue: counts the jobs that exist. `running`: all jobs that run. */
  begin(queue: Queue, running: Iterable<Job>): void {
    if (queue.keys !== undefined) return
    queue.keys = new Map()
    for (const job of running) if (job.lane.queue === queue) this.started(job)
    for (const lane of queue.lanes.values()) {
      this.overfilled.add(lane)
      for (let index = 0; index < lane.window.size; index++) this.enter(lane.window.at(index) as Job)
    }
  }

  /** Checks the keys of a queue after a limit or a pause has changed. */
  look(queue: Queue): void {
    for (const lane of queue.lanes.values()) this.overfilled.add(lane)
    for (const key of queue.keys?.values() ?? []) this.lookAt(key)
  }

  /** Checks a key, because more of its jobs may be able to stand in line. */
  lookAt(key: Key): void {
    for (const gate of key.gates.values()) if (gate.parked > 0) this.releasable.add(gate)
  }

  key(queue: Queue, text: string): Key {
    queue.keys ??= new Map()
    let key = queue.keys.get(text)
    if (key === undefined) {
      key = newKey(queue, text)
      queue.keys.set(text, key)
    }
    return key
  }

  addGate(key: Key, lane: Lane, id = lane.queue.settings.keyOrder === 'strict' ? -this.#nextGate : this.#nextGate): Gate {
    const gate = newGate(id, key, lane)
    this.#nextGate = Math.max(this.#nextGate, Math.abs(id) + 1)
    key.gates.set(lane, gate)
    this.gatesById.set(id, gate)
    return gate
  }

  keyOf({ extras, lane }: Job): Key | undefined {
    return extras?.concurrencyKey === undefined ? undefined : lane.queue.keys?.get(extras.concurrencyKey)
  }

  /** Returns the gate that the job stands before, if there is one. */
  gateOf(job: Job): Gate | undefined {
    return this.keyOf(job)?.gates.get(job.lane)
  }

  /** Returns the gate that the job stands before, and creates it if there is none. */
  gateFor(job: Job): Gate | undefined {
    const { extras, lane } = job
    if (extras?.concurrencyKey === undefined || lane.queue.keys === undefined) return undefined
    const key = this.key(lane.queue, extras.concurrencyKey)
    return key.gates.get(lane) ?? this.addGate(key, lane)
  }

  // Running jobs.

  started({ extras, lane }: Job): void {
    if (extras?.concurrencyKey !== undefined && lane.queue.keys !== undefined) this.key(lane.queue, extras.concurrencyKey).active++
  }

  ended(job: Job): void {
    const key = this.keyOf(job)
    if (key === undefined) return
    key.active--
    this.lookAt(key)
    this.forgetIdle(key)
  }

  // Jobs in line.

  /** Counts a job that has entered its lane's window. */
  enter(job: Job): void {
    const gate = this.gateFor(job)
    if (gate !== undefined) gate.lined++
  }

  /** Counts a job that has entered its lane's window from the disk, where it may have been counted before. */
  refilled(job: Job): void {
    const gate = this.gateFor(job)
    if (gate === undefined) return
    gate.lined++
    if (gate.outside > 0) gate.outside--
  }

  /** Counts a job that stands in line behind those in memory. */
  enterOutside(job: Job): void {
    const gate = this.gateFor(job)
    if (gate === undefined) return
    gate.outside++
    if (isFar(gate)) this.#remember(gate)
  }

  /** The job has left memory, and stands in line on disk. */
  evict(job: Job): void {
    const gate = this.gateOf(job)
    if (gate === undefined) return
    gate.lined--
    gate.outside++
    if (isFar(gate)) this.#remember(gate)
  }

  /** Keeps a limited number of far gates. The oldest is forgotten; its jobs are counted again as they come into memory. */
  #remember(gate: Gate): void {
    this.far.delete(gate)
    this.far.add(gate)
    if (this.far.size <= LIMITS.keysFar) return
    const [oldest] = this.far as Iterable<Gate> as [Gate]
    this.far.delete(oldest)
    if (!isFar(oldest)) return
    this.#drop(oldest)
    this.#forgetKey(oldest.key)
  }

  /** Uncounts a job that no longer stands in line, in memory or behind that. */
  leave(job: Job, windowed: boolean): void {
    const gate = this.gateOf(job)
    if (gate === undefined) return
    if (windowed) gate.lined--
    else if (gate.outside > 0) gate.outside--
    this.#ease(gate)
  }

  /** Handles a job that is gone from where it was counted. */
  #ease(gate: Gate): void {
    if (gate.parked > 0) this.releasable.add(gate)
    else this.forgetIdle(gate.key)
  }

  forgetIdle(key: Key): void {
    for (const gate of key.gates.values()) {
      if (isIdle(gate)) this.#drop(gate)
      else if (isFar(gate)) this.#remember(gate)
    }
    this.#forgetKey(key)
  }

  #forgetKey(key: Key): void {
    const idle = key.active === 0 && !key.paused && key.gates.size === 0 && key.bucketPlace < 0
    if (idle && key.queue.keys?.get(key.text) === key) key.queue.keys.delete(key.text)
  }

  /** Forgets a key whose queue was deleted. */
  forget(key: Key): void {
    for (const gate of key.gates.values()) this.#drop(gate)
    this.buckets.drop(key)
    this.turns.delete(key)
  }

  #drop(gate: Gate): void {
    gate.key.gates.delete(gate.lane)
    this.gatesById.delete(gate.id)
    this.far.delete(gate)
    this.releasable.delete(gate)
    this.needRefill.delete(gate)
  }

  // Parked jobs.

  /** Parks a job and returns the jobs that leave memory. If it may not be kept in memory, those behind it leave, too. */
  park(job: Job, gate: Gate, room: boolean): readonly Job[] {
    job.parked = gate
    gate.parked++
    if (job.data === undefined || dataBytes(job.data) > GATE_DATA || !room) return gate.window.cutAt(job)
    return gate.window.insert(job, BACKLOG_JOBS)
  }

  /** Forgets a bucket that is full. */
  forgetBucket(key: Key): void {
    key.fullMono = 0
    this.buckets.drop(key)
    this.forgetIdle(key)
  }

  /** Schedules another check of a key whose jobs are held back, if they lack so many tokens: when those are available. */
  awaitToken(key: Key, mono: number, tokens: number): void {
    const { perKeyRateLimit } = key.queue.settings
    if (perKeyRateLimit !== undefined) this.buckets.await(key, perKeyRateLimit, mono, tokens)
  }

  unpark(job: Job): void {
    const gate = job.parked as Gate
    job.parked = undefined
    gate.parked--
    if (gate.parked === 0) gate.window.complete = true
    this.#ease(gate)
  }
}
