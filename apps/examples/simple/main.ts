/** The shortest whole program: a job, a worker, and what comes of it. */
import { defineJob, openEngine } from '@millrace/engine'

const greet = defineJob<{ name: string }>({ name: 'greet' })

// A path in place of ':memory:' keeps the jobs over restarts.
await using engine = await openEngine({ file: ':memory:' })
engine.work([greet.handler(({ data }) => `Hello ${data.name}`)])

const handle = await engine.enqueue(greet, { name: 'Ada' })
console.log(await handle.result({ timeout: '30s' }))

// Many in one call are stored in one commit: all of them, or none.
const names = ['Grace', 'Edsger', 'Barbara']
const handles = await engine.enqueueMany(names.map((name) => ({ job: greet, data: { name } })))
for (const each of handles) console.log(await each.result({ timeout: '30s' }))

const { states } = await engine.stats()
console.log(`${states.completed} jobs completed`)
