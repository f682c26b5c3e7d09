/** Jobs by the thousand, from a stream: sent in atomic chunks, the next of which is read when the last is committed. */
import type { Engine, JobRequest } from '@millrace/engine'
import { UsageError } from './errors.ts'
import { type Line, linesOf } from './lines.ts'
import { many } from './output/amounts.ts'
import type { Output } from './output/output.ts'

const CHUNK_JOBS = 1_000
/** In UTF-16 units of the lines: far below what one command may hold. */
const CHUNK_LENGTH = 4 * 2 ** 20

export interface BulkResult {
  readonly enqueued: number
  /** Found by a key. */
  readonly existing: number
}

export interface BulkOptions {
  readonly engine: Engine
  readonly out: Output
  readonly input: NodeJS.ReadableStream
  /** The job of a line; undefined where there is none in it. Throws where it cannot be read. */
  readonly jobOf: (line: Line) => JobRequest | undefined
  /** Hears of each line that is refused, and of why; throws where that is the end. */
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
  /** Whose fault it is is found by taking them one by one: of the chunk nothing was enqueued. */
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
          // What stands before it is enqueued, as it is said.
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

/** What one job asks for is wrong, or too late; anything else would be so for all of them. */
function isOfOne(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code
  return code === 'OPTION_TYPE' || code === 'OPTION_RANGE' || code === 'VALIDATION' || code === 'UNIQUE_CONFLICT' || code === 'JOB_ACTIVE'
}
