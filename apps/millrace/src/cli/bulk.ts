/** Enqueues jobs by the thousand from a stream, in atomic chunks. The next chunk is read when the last is committed. */
import type { Engine, JobRequest } from '@millrace/engine'
import { UsageError } from './errors.ts'
import { type Line, linesOf } from './lines.ts'
import { many } from './output/amounts.ts'
import type { Output } from './output/output.ts'

const CHUNK_JOBS = 1_000
/** The maximum length of the lines of a chunk, in UTF-16 units: far below what one command may hold. */
const CHUNK_LENGTH = 4 * 2 ** 20

export interface BulkResult {
  readonly enqueued: number
  /** The number of jobs that already existed, found by a key. */
  readonly existing: number
}

export interface BulkOptions {
  readonly engine: Engine
  readonly out: Output
  readonly input: NodeJS.ReadableStream
  /** Returns the job of a line; undefined if there is none in it. Throws if the line cannot be read. */
  readonly jobOf: (line: Line) => JobRequest | undefined
  /** Called with each line that is rejected, and its error. Throws to end the run. */
  readonly refused: (line: Line, error: unknown) => void
}

interface Item {
  readonly line: Line
  readonly job: JobRequest
}

export async function enqueueLines({ engine, out, input, jobOf, refused }: BulkOptions): Promise<BulkResult> {
  const progress = out.progress()
  let [enqueued, existing] = [0, 0]
  let chunk: Item[] = []
  let length = 0

  const enqueue = async (items: readonly Item[]): Promise<void> => {
    const jobs = await engine.enqueueMany(items.map(({ job }) => job))
    for (const { created } of jobs) created ? enqueued++ : existing++
    progress.show(() => `${many(enqueued, 'job')} enqueued, up to line ${items.at(-1)?.line.number}`)
  }
  /** Sends the chunk. If one job is at fault, nothing of the chunk is enqueued, and sending its jobs one by one finds it. */
  const send = async (): Promise<void> => {
    const items = chunk
    chunk = []
    length = 0
    if (items.length === 0) return
    try {
      await enqueue(items)
    } catch (error) {
      if (!isOfOne(error)) throw error
      for (const item of items) {
        try {
          await enqueue([item])
        } catch (cause) {
          if (!isOfOne(cause)) throw cause
          refused(item.line, cause)
        }
      }
    }
  }

  try {
    for await (const lines of linesOf(input)) {
      for (const line of lines) {
        let job: JobRequest | undefined
        try {
          if (!line.exact) throw new UsageError('the line is not UTF-8')
          job = jobOf(line)
        } catch (error) {
          // The lines before it are enqueued first, as reported.
          await send()
          refused(line, error)
        }
        if (job === undefined) continue
        if (chunk.length >= CHUNK_JOBS || length + line.text.length > CHUNK_LENGTH) await send()
        chunk.push({ line, job })
        length += line.text.length
      }
      await send()
    }
    return { enqueued, existing }
  } catch (error) {
    if (error instanceof Error) Object.assign(error, { enqueued, existing })
    throw error
  } finally {
    progress.end()
  }
}

/** True if the request of one job is wrong or too late. Any other error would affect all of them. */
function isOfOne(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code
  return code === 'OPTION_TYPE' || code === 'OPTION_RANGE' || code === 'VALIDATION' || code === 'UNIQUE_CONFLICT' || code === 'JOB_ACTIVE'
}
