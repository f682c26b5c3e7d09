/** Jobs of higher priority start first, whenever they came; of equal priority those that came first. */
import { defineJob, openEngine } from '@millrace/engine'

const print = defineJob<{ page: string }>({ name: 'print' })

await using engine = await openEngine({ file: ':memory:' })
const pages = [
  { page: 'draft', priority: -1 },
  { page: 'letter', priority: 0 },
  { page: 'notice', priority: 0 },
  { page: 'ticket', priority: 5 },
]
const handles = await engine.enqueueMany(pages.map(({ page, priority }) => ({ job: print, data: { page }, options: { priority } })))

// A job that waits can be given another priority.
const draft = handles[0]
if (draft !== undefined) await engine.update(draft.id, { priority: 10 })

// One at a time: else they would all run beside one another.
engine.work([print.handler(({ data, job }) => console.log(`${data.page}, of priority ${job.priority}`))], { concurrency: 1 })
await Promise.all(handles.map((handle) => handle.result({ timeout: '30s' })))
