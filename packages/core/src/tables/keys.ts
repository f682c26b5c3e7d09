/** The keys that queues limit or pause: found by their jobs, counted, and given up when nothing of them is left. */
import { dataBytes, type Job } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { type Gate, isFar, isIdle, type Key, newGate, newKey } from './gate.ts'
import { KeyBuckets } from './keyBuckets.ts'
import type { Lane, Queue } from './lane.ts'

/** Parked jobs of one gate kept in memory, and the largest payload of one. */
export const GATE_JOBS = 8
const GATE_DATA = 16 * 1024

export class Keys {
  readonly gatesById = new Map<number, Gate>()
  /** Gates that may let a parked job go. */
  readonly roomy = new Set<Gate>()
  /** Those of them whose parked jobs are on disk alone. */
  readonly thirsty = new Set<Gate>()
  /** Lanes that have more jobs in their windows than a moment ago, in queues that know keys. */
  readonly crowded = new Set<Lane>()
  /** Those that only count jobs on disk, the one that has stood still longest first. */
  readonly far = new Set<Gate>()
  readonly buckets = new KeyBuckets()
  /** Keys in queues that keep an order, whose turn may be another job's by now: the store is to be asked. */
  readonly turns = new Set<Key>()
  #nextGate = 1

  /** From now on the queue limits or pauses keys: counts what is there. `running`: all jobs that run. */
  begin(queue: Queue, running: Iterable<Job>): void {
    if (queue.keys !== undefined) return
    queue.keys = new Map()
    for (const job of running) if (job.lane.queue === queue) this.started(job)
    for (const lane of queue.lanes.values()) {
      this.crowded.add(lane)
      for (let index = 0; index < lane.window.size; index++) this.enter(lane.window.at(index) as Job)
    }
  }

  /** A limit or a pause is another one now. */
  look(queue: Queue): void {
    for (const lane of queue.lanes.values()) this.crowded.add(lane)
    for (const key of queue.keys?.values() ?? []) this.lookAt(key)
  }

  /** More of the key's jobs may stand in line, maybe. */
  lookAt(key: Key): void {
    for (const gate of key.gates.values()) if (gate.parked > 0) this.roomy.add(gate)
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

  /** The gate that the job stands before, where there is one. */
  gateOf(job: Job): Gate | undefined {
    return this.keyOf(job)?.gates.get(job.lane)
  }

  /** The same, made where there is none. */
  gateFor(job: Job): Gate | undefined {
    const { extras, lane } = job
    if (extras?.concurrencyKey === undefined || lane.queue.keys === undefined) return undefined
    const key = this.key(lane.queue, extras.concurrencyKey)
    return key.gates.get(lane) ?? this.addGate(key, lane)
  }

  // Of jobs that run.

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

  // Of jobs in line.

  /** The job has come into its lane's window. */
  enter(job: Job): void {
    const gate = this.gateFor(job)
    if (gate !== undefined) gate.lined++
  }

  /** The same from the disk, where it may have been counted before. */
  refilled(job: Job): void {
    const gate = this.gateFor(job)
    if (gate === undefined) return
    gate.lined++
    if (gate.outside > 0) gate.outside--
  }

  /** The job stands in line behind what is in memory. */
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

  /** Of so many: what another one knew is forgotten, and its jobs are counted again as they come into memory. */
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

  /** The job stands in line no more: in memory, or behind that. */
  leave(job: Job, windowed: boolean): void {
    const gate = this.gateOf(job)
    if (gate === undefined) return
    if (windowed) gate.lined--
    else if (gate.outside > 0) gate.outside--
    this.#ease(gate)
  }

  /** One of its jobs is gone from where it was counted. */
  #ease(gate: Gate): void {
    if (gate.parked > 0) this.roomy.add(gate)
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

  /** Its queue is no more. */
  forget(key: Key): void {
    for (const gate of key.gates.values()) this.#drop(gate)
    this.buckets.drop(key)
    this.turns.delete(key)
  }

  #drop(gate: Gate): void {
    gate.key.gates.delete(gate.lane)
    this.gatesById.delete(gate.id)
    this.far.delete(gate)
    this.roomy.delete(gate)
    this.thirsty.delete(gate)
  }

  // Of jobs that are held back.

  /** Whether it may be kept in memory; what stands behind one that may not leaves it, too. */
  park(job: Job, gate: Gate, room: boolean): readonly Job[] {
    job.parked = gate
    gate.parked++
    if (job.data === undefined || dataBytes(job.data) > GATE_DATA || !room) return gate.window.cutAt(job)
    return gate.window.insert(job, GATE_JOBS)
  }

  /** It is full. */
  forgetBucket(key: Key): void {
    key.fullMono = 0
    this.buckets.drop(key)
    this.forgetIdle(key)
  }

  /** Jobs of the key are held back: where that is for want of so many tokens, they are looked at again when those are there. */
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
