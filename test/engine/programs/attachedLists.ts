/** Lists from an attached thread; neither thread stops its engine: `attachedLists.ts <file>`. */
import { once } from 'node:events'
import { isMainThread, type MessagePort, Worker, workerData } from 'node:worker_threads'
import { attach, openEngine } from '@millrace/engine'

if (isMainThread) {
  const engine = await openEngine({ file: process.argv[2] as string })
  const port = engine.port() as MessagePort
  // Asked for, and never attached to.
  engine.port()
  const thread = new Worker(new URL(import.meta.url), { workerData: { port }, transferList: [port] })
  const [code] = await once(thread, 'exit')
  process.stdout.write(`thread ended: ${code}\n`)
} else {
  const engine = attach(workerData.port)
  await engine.enqueue('mail', 1)
  const { jobs } = await engine.list()
  process.stdout.write(`thread: ${jobs.length} job\n`)
}
