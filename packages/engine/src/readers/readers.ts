/** Read-only threads for `list`, so that a long one never delays a turn. Started with the first question. */

import type { ListCommand, ListPage } from '@millrace/core'
import { Piscina } from 'piscina'

export class Readers {
  readonly #file: string
  readonly #threads: number
  #pool: Piscina | undefined

  constructor(file: string, threads: number) {
    this.#file = file
    this.#threads = threads
  }

  page(command: ListCommand): Promise<ListPage> {
    this.#pool ??= this.#open()
    return this.#pool.run(command)
  }

  async close(): Promise<void> {
    await this.#pool?.destroy()
    this.#pool = undefined
  }

  #open(): Piscina {
    const here = import.meta.url
    // Equal bounds: a pool that grows strands queued tasks when a thread of it is ended.
    return new Piscina({
      filename: new URL(here.endsWith('.ts') ? './query.ts' : './query.js', here).href,
      name: 'page',
      minThreads: this.#threads,
      maxThreads: this.#threads,
      workerData: { file: this.#file },
    })
  }
}
