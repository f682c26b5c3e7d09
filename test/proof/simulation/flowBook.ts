/**
 * Who waits for whom, as it was asked, and how each has ended: a job is let through after all of them, and fails by one that has failed.
 * What a run joins is created with its end, and not without it.
 */
import { BLOCKED, COMPLETED, isFinal, type OnParentFailure, STATES, type State } from '@millrace/core'
import { DELETED, type FlowEffects } from '@millrace/core/kernel'
import type { Edge } from './database.ts'
import type { Model, ModelOptions, Tracked } from './model.ts'

interface Place {
  readonly id: string
  /** The joined ones after those of its flow. */
  readonly parents: number[]
  readonly onParentFailure: OnParentFailure
  /** By their names. */
  readonly joined: Map<string, JoinedGroup>
}

export interface JoinedGroup {
  /** The run that has ended with it. */
  readonly run: number
  readonly jobs: readonly number[]
}

/** A job as a run sees it that has joined it. */
interface Seen {
  readonly id: string
  readonly ref: string
  readonly state: State | 'deleted'
}

export class FlowBook {
  readonly #model: Model
  readonly #options: ModelOptions
  readonly #places = new Map<number, Place>()
  /** How jobs had ended whose rows are gone. */
  readonly #ends = new Map<number, number>()
  /** Jobs of whose children some are told, and others are not. */
  readonly #underWay = new Set<number>()
  /** Jobs that were brought back at some time. */
  readonly #back = new Set<number>()
  /** Jobs that the turn has created for a join, and of whose run it has not told the end. */
  readonly #unclaimed = new Set<number>()
  /** Joined jobs that have ended in the last turn. */
  ended: string[] = []

  constructor(model: Model, options: ModelOptions) {
    this.#model = model
    this.#options = options
  }

  /** Whether it waits for others. */
  enqueued({ seq, id, number }: Tracked): boolean {
    if (this.#options.requests.joinable.has(number)) {
      this.#unclaimed.add(seq)
      this.#places.set(seq, { id, parents: [], onParentFailure: 'continue', joined: new Map() })
    }
    const waits = this.#options.requests.waitFor.get(number)
    if (waits === undefined) return false
    const { history } = this.#options
    const parents = waits.parents.map((parent) => this.#model.numbers.get(parent) ?? 0)
    history.hold(!parents.includes(0), 26, () => `job ${seq} is created before one that it waits for`)
    this.#places.set(seq, { id, parents, onParentFailure: waits.onParentFailure, joined: new Map() })
    return parents.length > 0
  }

  begin(): void {
    this.ended = []
  }

  /** A run has ended with jobs that its job waits for. */
  joined({ seq, id, run }: Tracked): void {
    const { history, requests } = this.#options
    const { name, numbers } = requests.joinOf(seq, run) ?? { name: 'nobody', numbers: [] }
    const place: Place = this.#places.get(seq) ?? { id, parents: [], onParentFailure: 'continue', joined: new Map() }
    this.#places.set(seq, place)
    history.hold(!place.joined.has(name), 26, () => `job ${seq} joins ${name} for the second time`)
    history.meet(place.joined.size === 0 ? 'joined' : 'joinedMore')
    const jobs = numbers.map((number) => this.#model.numbers.get(number) ?? 0)
    for (const job of jobs)
      history.hold(
        this.#unclaimed.delete(job),
        26,
        () => `run ${run} of job ${seq} ends with ${name}, and job ${job} is not created with it`,
      )
    place.joined.set(name, { run, jobs })
    place.parents.push(...jobs)
  }

  joinedBy(seq: number, name: string): JoinedGroup | undefined {
    return this.#places.get(seq)?.joined.get(name)
  }

  /** By their ids: jobs that have joined others and have yet to complete, and those that they have joined. */
  get joiners(): string[] {
    const ids: string[] = []
    for (const [seq, { id, joined }] of this.#places) {
      if (joined.size === 0 || (this.#model.jobs.get(seq)?.state ?? COMPLETED) === COMPLETED) continue
      ids.push(id)
      for (const { jobs } of joined.values()) ids.push(...jobs.map((job) => this.#placeOf(job).id))
    }
    return ids
  }

  /** What is wrong with what a run sees of jobs that its job has joined. */
  wrongOf(seq: number, name: string, seen: readonly Seen[]): string | undefined {
    const { history } = this.#options
    history.meet('joinedSeen')
    const jobs = this.joinedBy(seq, name)?.jobs ?? []
    const expected = jobs.map((job, index) => `${this.#placeOf(job).id} ${name}/${index}`)
    const found = seen.map(({ id, ref }) => `${id} ${ref}`)
    if (found.join() !== expected.join()) return `job ${seq} has joined ${expected} as ${name}, and sees ${found}`
    const early = seen.findIndex(({ state }, index) => !isOver(state) && !this.#back.has(jobs[index] as number))
    return early < 0 ? undefined : `job ${seq} sees job ${jobs[early]} of ${name} in state ${seen[early]?.state}`
  }

  /** As whoever has waited for it is told. */
  stateOf(seq: number): State | 'deleted' {
    const state = this.#model.jobs.get(seq)?.state ?? this.#ends.get(seq) ?? DELETED
    return state === DELETED ? 'deleted' : (STATES[state] as State)
  }

  back({ seq }: Tracked): void {
    this.#back.add(seq)
  }

  /** Those that it was asked to wait for; undefined where it is of no flow. */
  parentsOf(seq: number): readonly number[] | undefined {
    return this.#places.get(seq)?.parents
  }

  /** The same, without those that it has joined. */
  flowParentsOf(seq: number): readonly number[] {
    const place = this.#places.get(seq)
    const joined = [...(place?.joined.values() ?? [])].flatMap(({ jobs }) => jobs)
    return (place?.parents ?? []).filter((parent) => !joined.includes(parent))
  }

  released({ seq }: Tracked): void {
    const { history } = this.#options
    history.meet('flowReleased')
    const { parents, onParentFailure, joined } = this.#placeOf(seq)
    if (onParentFailure === 'run' && joined.size === 0) {
      history.meet('flowAtFailure')
      const states = parents.map((parent) => this.#standing(parent))
      // Somebody may have brought it back himself, or the one that had failed.
      const wanted = this.#back.has(seq) || states.some((state, place) => state > COMPLETED || this.#back.has(parents[place] as number))
      history.hold(wanted, 26, () => `job ${seq} runs where others fail, and those that it waits for are in the states ${states}`)
      return
    }
    for (const parent of parents) {
      const state = this.#standing(parent)
      history.hold(state !== 0, 26, () => `job ${seq} is let through, and job ${parent}, which it waits for, has not ended`)
      if (state === 0) continue
      // One that has run looks at them itself.
      const passes = state === COMPLETED || (onParentFailure !== 'fail' && onParentFailure !== 'cancel') || joined.size > 0
      history.hold(passes, 26, () => `job ${seq} is let through, and job ${parent}, which it waits for, is in state ${state}`)
    }
  }

  forsaken({ seq, run }: Tracked): void {
    const { history } = this.#options
    history.meet('forsaken')
    const { parents, onParentFailure, joined } = this.#placeOf(seq)
    history.hold(joined.size === 0, 26, () => `job ${seq} fails because of others, and has joined some itself`)
    const failed = parents.some((parent) => this.#standing(parent) > COMPLETED)
    history.hold(failed && onParentFailure === 'fail', 26, () => `job ${seq} fails because of others, and none of them has failed`)
    history.hold(run === 0, 26, () => `job ${seq} fails because of others, and has run`)
  }

  /** True if it is cancelled because of those that it waits for: one has failed, or none has where it was to run at a failure. */
  unwanted({ seq, state }: Tracked): boolean {
    const place = this.#places.get(seq)
    if (place === undefined || state !== BLOCKED || place.joined.size > 0) return false
    const states = place.parents.map((parent) => this.#standing(parent))
    if (place.onParentFailure === 'cancel') return states.some((each) => each > COMPLETED)
    return place.onParentFailure === 'run' && states.every((each) => each === COMPLETED)
  }

  /** True if it was to run at a failure, and none has come: it leaves no row. */
  unneeded({ seq }: Tracked): boolean {
    return this.#places.get(seq)?.onParentFailure === 'run'
  }

  /** The events of a turn are over. */
  end(): void {
    const { history } = this.#options
    for (const job of this.#unclaimed)
      history.violate(26, `job ${job} is created for a job that was to wait for it, and the run of that one has not ended with it`)
    this.#unclaimed.clear()
  }

  /** A turn is committed. */
  commit({ progress, due }: FlowEffects): void {
    for (const { parent, next } of progress) {
      if (next !== undefined && next.after > 0) this.#underWay.add(parent)
      else this.#underWay.delete(parent)
    }
    for (const parent of due.keys()) if (this.#underWay.delete(parent)) this.#options.history.meet('changedAsItIsTold')
  }

  /** Each child knows how those that it waits for stand. */
  told(edges: readonly Edge[]): void {
    const { history } = this.#options
    for (const { parent, child, told } of edges) {
      const state = this.#standing(parent)
      history.hold(
        told === state,
        26,
        () => `job ${child} is told ${told} of job ${parent}, which it waits for, and that is in state ${state}`,
      )
    }
    for (const { seq, state } of this.#model.jobs.values()) {
      if (state !== BLOCKED) continue
      const { parents, onParentFailure, joined } = this.#placeOf(seq)
      const waits = parents.some((parent) => this.#standing(parent) === 0)
      history.hold(waits, 26, () => `job ${seq} waits for others, and all of them have ended`)
      const isDue = onParentFailure === 'run' && joined.size === 0 && parents.some((parent) => this.#standing(parent) > COMPLETED)
      history.hold(!isDue, 26, () => `job ${seq} was to run at the first failure, and waits`)
    }
  }

  /** It has ended. */
  over({ seq, id, number }: Tracked): void {
    if (this.#options.requests.joinable.has(number) && this.#places.has(seq)) this.ended.push(id)
  }

  removed({ seq, state }: Tracked): void {
    if (this.#places.has(seq)) this.#ends.set(seq, isFinal(state) ? state : DELETED)
  }

  /** Whether somebody has asked so of this job, or of one that it waits for, however far up. */
  asked(op: 'cancelTree' | 'retryTree', { seq, id }: Tracked): boolean {
    if (this.#options.requests.askedTree(op, id)) return true
    const seen = new Set([seq])
    for (const next of seen) {
      const place = this.#places.get(next)
      if (place === undefined) continue
      if (this.#options.requests.askedTree(op, place.id)) return true
      for (const parent of place.parents) seen.add(parent)
    }
    return false
  }

  /** 0 while it lives. */
  #standing(seq: number): number {
    const state = this.#model.jobs.get(seq)?.state ?? this.#ends.get(seq) ?? DELETED
    return state < COMPLETED ? 0 : state
  }

  #placeOf(seq: number): Place {
    const place = this.#places.get(seq)
    this.#options.history.hold(place !== undefined, 26, () => `job ${seq} waits for others, and was never asked to`)
    return place ?? { id: '', parents: [], onParentFailure: 'fail', joined: new Map() }
  }
}

function isOver(state: Seen['state']): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'deleted'
}
