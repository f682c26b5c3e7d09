// Thread pools, and the reader thread behind `list`.
import { defineJob, openEngine } from '@millrace/engine'

const greet = defineJob({ name: 'greet' })
const engine = await openEngine({ file: 'threads.db' })
engine.work(greet.thread(new URL('./thread-handler.js', import.meta.url), { threads: 2 }))
const handles = await engine.enqueueMany(['ann', 'bob', 'cid'].map((name) => ({ job: greet, data: { name }, options: { tags: [name] } })))
const outputs = await Promise.all(handles.map((handle) => handle.result({ timeout: '30s' })))

const first = await engine.list({ state: 'completed', limit: 2 })
const second = await engine.list({ state: 'completed', limit: 2, after: first.next })
const tagged = await engine.list({ tag: 'bob' })
const said = (page) => page.jobs.map((job) => job.output.said)
process.stdout.write(JSON.stringify({ outputs, pages: [said(first), said(second)], tagged: said(tagged) }))
await engine.stop()
