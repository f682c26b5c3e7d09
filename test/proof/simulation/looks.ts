/**
 * Who walks through the jobs page by page while they come, change and go: what has stayed as it was is met once, in order, and
 * nothing is met that is not there, or is something else.
 */
import type { FlowPage, Job } from '@millrace/client'
import { type ListOptions, STATES } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import { JOBS, QUEUES } from './handlers.ts'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import { KEYS, type Operations } from './operations.ts'

export interface LooksOptions {
  readonly chance: Chance
  readonly history: History
  readonly model: Model
  readonly operations: Operations
  /** How often it is a flow that is walked through. */
  readonly flows: number
}

interface Look {
  readonly options: ListOptions
  readonly fits: (job: Tracked) => boolean
  /** The last turn before it. */
  readonly turn: number
  readonly met: Set<number>
  /** Where it has come to. */
  seq: number
}

interface FlowLook {
  readonly id: string
  readonly limit: number
  readonly turn: number
  readonly met: Set<number>
}

export class Looks {
  readonly #options: LooksOptions

  constructor(options: LooksOptions) {
    this.#options = options
  }

  act(client: Client): void {
    const { chance, model, flows } = this.#options
    const limit = chance.pick([1, 2, 5, 200])
    if (flows > 0 && chance.hits(flows)) {
      const id = chance.pick(['none', ...model.seqs.keys()])
      if (id !== 'none') this.#flow(client, { id, limit, turn: model.turns, met: new Set() })
      return
    }
    const [options, fits] = this.#draw()
    this.#page(client, { options: { ...options, limit }, fits, turn: model.turns, met: new Set(), seq: Number.POSITIVE_INFINITY })
  }

  #draw(): [ListOptions, (job: Tracked) => boolean] {
    const { chance, model } = this.#options
    const [state, code] = chance.pick(STATES.map((name, index) => [name, index] as const))
    const queue = chance.pick(QUEUES)
    const name = chance.pick(JOBS).name
    const key = chance.pick(KEYS)
    const unique = `unique-${chance.whole(1, 3)}`
    const number = chance.whole(1, Math.max(1, model.created.size))
    return chance.pick<[ListOptions, (job: Tracked) => boolean]>([
      [{}, () => true],
      [{ state }, (job) => job.state === code],
      [{ queue, state }, (job) => job.queue === queue && job.state === code],
      [{ name }, (job) => job.name === name],
      [{ name, queue }, (job) => job.name === name && job.queue === queue],
      [{ search: key.toUpperCase() }, (job) => job.key === key],
      // In every job's data, whatever the case.
      [{ search: '"MS":', queue }, (job) => job.queue === queue],
      [{ search: unique, queue }, (job) => job.uniqueKey === unique && job.queue === queue],
      // What may be replaced has the data of a later call by then.
      [{ search: `"number":${number},` }, (job) => job.dataOf === number && job.firstKey === undefined && job.debounceKey === undefined],
    ])
  }

  #page(client: Client, look: Look, after?: string): void {
    const { operations, model, history } = this.#options
    const { turns } = model
    operations.call(
      client,
      `list ${JSON.stringify(look.options)} after ${after}`,
      client.engine.list({ ...look.options, ...(after !== undefined && { after }) }),
      ({ jobs, next, partial }) => {
        history.meet('listed')
        if (partial === true) history.meet('listedInPart')
        for (const job of jobs) this.#meet(look, job, turns)
        if (next === undefined) this.#end(look)
        else this.#page(client, look, next)
      },
      (code) => history.hold(code !== 'UNSUPPORTED', 28, () => 'no client may look'),
    )
  }

  #flow(client: Client, look: FlowLook, after?: string): void {
    const { operations, model, history } = this.#options
    const { id, limit } = look
    const { turns } = model
    operations.call(
      client,
      `flow of ${id} after ${after}`,
      client.engine.flows.get(id, { limit, ...(after !== undefined && { after }) }),
      (page) => {
        const seq = model.seqs.get(id) as number
        if (page === undefined) {
          const job = model.jobs.get(seq)
          const there = job !== undefined && job.changedTurn <= turns && model.parentsOf(seq) !== undefined
          history.hold(!there, 28, () => `job ${seq} is of a flow, and none is found by it`)
          return
        }
        history.meet('flowListed')
        for (const job of page.jobs) this.#meetNode(look, job, turns)
        if (page.next === undefined) this.#endFlow(look)
        else this.#flow(client, look, page.next)
      },
      (code) => history.hold(code !== 'UNSUPPORTED', 28, () => 'no client may look'),
    )
  }

  #meetNode({ met }: FlowLook, { id, state, parents, dependsOn }: FlowPage['jobs'][number], turn: number): void {
    const { history, model } = this.#options
    const seq = model.seqs.get(id) ?? 0
    const asked = model.parentsOf(seq)
    const job = model.jobs.get(seq)
    const isAsItWas = job !== undefined && job.changedTurn <= turn
    // It may have joined others since.
    const [least, most] = [isAsItWas ? asked?.length : model.flowParentsOf(seq).length, asked?.length]
    const fits = least !== undefined && most !== undefined && least <= parents && parents <= most
    history.hold(fits, 26, () => `job ${seq} waits for ${parents} by its flow, and for ${asked?.length} by its call`)
    for (const { id: parent } of dependsOn)
      history.hold(
        asked?.includes(model.seqs.get(parent) ?? 0) === true,
        26,
        () => `job ${seq} waits for ${parent}, and was never asked to`,
      )
    met.add(seq)
    if (!isAsItWas) return
    history.hold(STATES[job.state] === state, 3, () => `job ${seq} of a flow is shown as ${state}, and is ${STATES[job.state]}`)
  }

  /** Whom it was asked for is there, and so are those that jobs of it wait for by their flow: what they have joined is a flow of its own. */
  #endFlow({ id, met, turn }: FlowLook): void {
    const { history, model } = this.#options
    for (const seq of [model.seqs.get(id) as number, ...[...met].flatMap((child) => model.flowParentsOf(child))]) {
      const job = model.jobs.get(seq)
      if (job !== undefined && job.changedTurn <= turn)
        history.hold(met.has(seq), 28, () => `job ${seq} is not met by a walk through the flow of ${id}`)
    }
  }

  #meet(look: Look, { id, state, queue, name }: Job, turn: number): void {
    const { history, model } = this.#options
    const { options } = look
    const seq = model.seqs.get(id)
    if (seq === undefined) {
      history.violate(3, `job ${id} is listed, and was never created`)
      return
    }
    history.hold(seq < look.seq, 28, () => `job ${seq} is listed after job ${look.seq}`)
    look.seq = seq
    look.met.add(seq)
    const wanted = (options.queue ?? queue) === queue && (options.name ?? name) === name && (options.state ?? state) === state
    history.hold(wanted, 28, () => `job ${seq} is listed as ${name} ${state} in ${queue}, asked for ${JSON.stringify(options)}`)
    const job = model.jobs.get(seq)
    if (job === undefined || job.changedTurn > turn) return
    history.hold(STATES[job.state] === state, 3, () => `job ${seq} is listed as ${state}, and is ${STATES[job.state]}`)
  }

  #end({ fits, turn, met, options }: Look): void {
    const { history, model } = this.#options
    for (const job of model.jobs.values())
      if (job.changedTurn <= turn && fits(job))
        history.hold(met.has(job.seq), 28, () => `job ${job.seq} is not met by a walk through ${JSON.stringify(options)}`)
  }
}
