/**
 * Who takes finished jobs elsewhere, through clients that die: what retention forgets it has had before, and by the end it has had all
 * that there is.
 */
import type { Job } from '@millrace/client'
import { isFinal } from '@millrace/core'
import type { Client } from './client.ts'
import type { Model, Tracked } from './model.ts'
import type { ReadersOptions } from './readers.ts'

export class Exporter {
  readonly #options: ReadersOptions
  /** Each end of a job that it was handed. */
  readonly #taken = new Set<string>()
  #client: Client | undefined

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  follow(client: Client): void {
    if (this.#client !== undefined && !this.#client.dead) return
    this.#client = client
    void this.#read(client)
  }

  has({ id, finishedAt }: Tracked): boolean {
    return this.#taken.has(`${id} ${finishedAt}`)
  }

  get behind(): boolean {
    return [...this.#options.model.jobs.values()].some((job) => isFinal(job.state) && !this.has(job))
  }

  async #read(client: Client): Promise<void> {
    const { chance, history, timeline, model } = this.#options
    try {
      for await (const { jobs, gap } of client.engine.exports.read('archive', { limit: chance.whole(1, 5) })) {
        if (client.dead) return
        history.hold(gap === undefined, 40, () => `${client.name} is told of a gap before a batch of an export`)
        for (const job of jobs) this.#take(client, job, model)
        if (chance.hits(0.3)) await new Promise<void>((resolve) => void timeline.after(chance.small(500), resolve))
        if (client.dead) return
      }
    } catch (error) {
      if (client.dead) return
      history.note(`${client.name} exports no more: ${String(error)}`)
      this.#client = undefined
    }
  }

  #take({ name }: Client, { id, state, finishedAt }: Job, { events }: Model): void {
    const { history } = this.#options
    const key = `${id} ${finishedAt?.getTime()}`
    history.note(`${name} exports ${state} ${key}`)
    history.meet(this.#taken.has(key) ? 'exportedAgain' : 'exported')
    const ended = events.some(({ what, type }) => what === id && type === state)
    history.hold(ended, 3, () => `${name} exports job ${id} as ${state}, and it has never been that`)
    this.#taken.add(key)
  }
}
