/** Enqueues jobs by the thousand from a stream, in atomic chunks. The next chunk is read when the last is committed. */
import { Chunks } from '@millrace/client'
import { isError } from '@millrace/core'
import type { JobRequest } from '@millrace/engine'
import { UsageError } from './errors.ts'
import type { Enqueuer } from './inbox.ts'
import { type Line, linesOf } from './lines.ts'
import { many } from './output/amounts.ts'
import type { Output } from './output/output.ts'

export interface BulkResult {
  readonly enqueued: number
  /** The number of jobs that already existed, found by a key. */
  readonly existing: number
}

export interface BulkOptions {
  readonly engine: Enqueuer
  readonly out: Output
  readonly input: NodeJS.ReadableStream
  /** Returns the job of a line; undefined if there is none in it. Throws if the line cannot be read. */
  readonly jobOf: (line: Line) => JobRequest | undefined
  /** Called with each line that is rejected, and its error. Throws to end the run. */
  readonly refused: (line: Line, error: unknown) => void
}

export async function enqueueLines({ engine, out, input, jobOf, refused }: BulkOptions): Promise<BulkResult> {
  const progress = out.progress()
  let [enqueued, existing] = [0, 0]
  const chunks = new Chunks<Line>({
    enqueue: (jobs) => engine.enqueueMany(jobs),
    sent: (jobs, last) => {
      for (const { created } of jobs) created ? enqueued++ : existing++
      progress.show(() => `${many(enqueued, 'job')} enqueued, up to line ${last.number}`)
    },
    refused,
  })
  try {
    for await (const lines of linesOf(input)) {
      for (const line of lines) {
        let job: JobRequest | undefined
        try {
          if (!line.exact) throw new UsageError('the line is not UTF-8')
          job = jobOf(line)
        } catch (error) {
          // The lines before it are enqueued first, as reported.
          await chunks.send()
          refused(line, error)
        }
        if (job !== undefined) await chunks.add(line, job, line.text.length)
      }
      await chunks.send()
    }
    return { enqueued, existing }
  } catch (error) {
    if (isError(error)) Object.assign(error, { enqueued, existing })
    throw error
  } finally {
    progress.end()
  }
}
