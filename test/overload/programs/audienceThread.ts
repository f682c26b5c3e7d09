/** A thread that listens to every event of an engine, slowly or not at all any more. */
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { attach } from '@millrace/engine'

const { port, how } = workerData as { port: unknown; how: 'slow' | 'never' }
const cell = new Int32Array(new SharedArrayBuffer(4))
const engine = attach(port)
engine.on('*', () => {
  Atomics.wait(cell, 0, 0, how === 'never' ? Number.POSITIVE_INFINITY : 1)
})
// Answered behind the subscription, so it is in force.
await engine.stats()
parentPort?.postMessage('listens')
if (parentPort !== null) await once(parentPort, 'message')
