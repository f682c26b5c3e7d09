/** Read-only threads for `list`, so that a long one never delays a turn. Started with the first question. */

import type { ListCommand, ListPage } from '@millrace/core'
import type { Piscina } from 'piscina'

export class Readers {
  readonly #file: string
  readonly #threads: number
  #pool: Promise<Piscina> | undefined

  constructor(file: string, threads: number) {
    this.#file = file
    this.#threads = threads
  }

  async page(command: ListCommand): Promise<ListPage> {
    this.#pool ??= this.#open()
    const pool = await this.#pool
    return pool.run(command)
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined)
    this.#pool = undefined
    await pool?.destroy()
  }

  async #open(): Promise<Piscina> {
    const here = import.meta.url
    // Loaded late: in a bundle it would throw at once, before the engine could say what to do about bundles.
    const { Piscina } = await import('piscina')
    // Equal bounds: a pool that grows strands queued tasks when a thread of it is ended.
    const pool = new Piscina({
      filename: new URL(here.endsWith('.ts') ? './query.ts' : './query.js', here).href,
      name: 'page',
      minThreads: this.#threads,
      maxThreads: this.#threads,
      workerData: { file: this.#file },
    })
    // A thread that cannot start fails the question that it was for; unheard, the event would end the host.
    pool.on('error', () => {})
    return pool
  }
}
