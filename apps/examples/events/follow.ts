/**
 * `follow.ts [HOW_MANY]`: keeps a list of what happened beside the queue, and goes on where it was when it is run again: the cursor
 * is written down with what was made of the event. Ends after so many.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, type MillraceEvent, openEngine } from '@millrace/engine'

const folder = process.env['EXAMPLE_FOLDER'] ?? '.'
const count = Number(process.argv[2] ?? 7)
const list = join(folder, 'happened.txt')

/** The list is its own cursor: each line begins with the number of its event. */
function lastSeq(): number {
  const lines = existsSync(list) ? readFileSync(list, 'utf8').trimEnd().split('\n') : []
  return Number.parseInt(lines.at(-1) ?? '0', 10) || 0
}

/** What it happened to. */
function subjectOf(event: MillraceEvent): string {
  if ('run' in event) return event.name
  if ('queue' in event) return event.queue
  if ('schedule' in event) return event.schedule
  return 'worker' in event ? event.worker : 'engine'
}

const square = defineJob<number>({ name: 'square' })
await using engine = await openEngine({ file: join(folder, 'events.db') })
const worker = engine.work(square.handler(({ data }) => data * data))
await engine.enqueueMany([2, 3].map((data) => ({ job: square, data })))

let left = count
for await (const event of engine.events({ after: lastSeq() })) {
  // Older than what is kept: whoever needs all of it reads more often than retention forgets.
  const line = event.type === 'gap' ? `${event.resumesAt - 1} (gap)` : `${event.seq} ${event.type} ${subjectOf(event)}`
  appendFileSync(list, `${line}\n`)
  console.log(line)
  if (--left === 0) break
}
await worker.stop()
