/** Sends jobs in atomic chunks. A chunk in which one job is rejected is sent again in halves, which finds that one. */
import type { JobRequest } from '@millrace/worker'

const CHUNK_JOBS = 1_000
/** The maximum length of the data of a chunk, in UTF-16 units: far below what one command may hold. */
const CHUNK_LENGTH = 4 * 2 ** 20

interface Sent {
  readonly created: boolean
}

interface Item<Origin> {
  readonly origin: Origin
  readonly job: JobRequest
}

export interface ChunksOptions<Origin> {
  readonly enqueue: (jobs: readonly JobRequest[]) => Promise<readonly Sent[]>
  /** Called when jobs are stored. `last` is where the last of them came from. */
  readonly sent: (jobs: readonly Sent[], last: Origin) => void
  /** Called with each job that is rejected, and its error. Throws to end the run. */
  readonly refused: (origin: Origin, error: unknown) => void
}

export class Chunks<Origin> {
  readonly #options: ChunksOptions<Origin>
  #items: Item<Origin>[] = []
  #length = 0

  constructor(options: ChunksOptions<Origin>) {
    this.#options = options
  }

  /** Adds a job, and first sends the chunk if it is full. `length` is about that of its data. */
  async add(origin: Origin, job: JobRequest, length: number): Promise<void> {
    if (this.#items.length >= CHUNK_JOBS || this.#length + length > CHUNK_LENGTH) await this.send()
    this.#items.push({ origin, job })
    this.#length += length
  }

  /** Resolves when all jobs so far are stored. If one job is at fault, nothing of its chunk is stored at first. */
  async send(): Promise<void> {
    const items = this.#items
    this.#items = []
    this.#length = 0
    if (items.length === 0) return
    await this.#send(items)
  }

  async #send(items: readonly Item<Origin>[]): Promise<void> {
    const { enqueue, sent, refused } = this.#options
    const last = (items.at(-1) as Item<Origin>).origin
    try {
      sent(await enqueue(items.map(({ job }) => job)), last)
    } catch (error) {
      if (!isOfOne(error)) throw error
      if (items.length === 1) {
        refused(last, error)
        return
      }
      const middle = Math.ceil(items.length / 2)
      await this.#send(items.slice(0, middle))
      await this.#send(items.slice(middle))
    }
  }
}

const OF_ONE: ReadonlySet<unknown> = new Set(['OPTION_TYPE', 'OPTION_RANGE', 'VALIDATION', 'UNIQUE_CONFLICT', 'JOB_ACTIVE'])

/** True if the request of one job is wrong or too late. Any other error would affect all of them. */
export function isOfOne(error: unknown): boolean {
  return OF_ONE.has((error as { readonly code?: unknown }).code)
}
