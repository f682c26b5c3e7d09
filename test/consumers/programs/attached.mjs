// One engine from two threads: one owns it, the other attaches to its port.
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { attach, defineJob, openEngine } from '@millrace/engine'

const here = defineJob({ name: 'here' })
const there = defineJob({ name: 'there' })
const where = ({ data }) => `${data}: ${isMainThread ? 'first' : 'second'} thread`

if (isMainThread) {
  const engine = await openEngine({ file: 'attached.db' })
  const port = engine.port()
  const thread = new Worker(new URL(import.meta.url), { workerData: { port }, transferList: [port] })
  engine.work(here.handler(where))
  const fromThere = once(thread, 'message')
  const handle = await engine.enqueue(there, 'from the first')
  const outputs = [await handle.result(), ...(await fromThere)[0]]
  thread.postMessage('stop')
  await once(thread, 'exit')
  const { states, workers } = await engine.stats()
  process.stdout.write(JSON.stringify({ outputs, completed: states.completed, workers }))
  await engine.stop()
} else {
  const engine = attach(workerData.port)
  engine.work(there.handler(where))
  const handle = await engine.enqueue(here, 'from the second')
  const output = await handle.result()
  const job = await engine.get(handle.id)
  parentPort.postMessage([output, job.output])
  // Ends its own workers and its own way in; the engine goes on.
  parentPort.once('message', () => engine.stop())
}
