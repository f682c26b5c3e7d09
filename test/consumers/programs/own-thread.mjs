// The whole engine within a second thread.
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { defineJob, openEngine } from '@millrace/engine'

if (isMainThread) {
  new Worker(new URL(import.meta.url)).on('message', (message) => process.stdout.write(JSON.stringify(message)))
} else {
  const double = defineJob({ name: 'double' })
  const engine = await openEngine({ file: 'own-thread.db' })
  engine.work(double.handler(({ data }) => data * 2))
  const handle = await engine.enqueue(double, 21)
  const output = await handle.result()
  const { jobs } = await engine.list()
  parentPort.postMessage({ output, listed: jobs.map((job) => job.output) })
  await engine.stop()
}
