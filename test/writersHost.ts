/** The thread that test/writers.ts uses again: it runs a file as a thread of its own would, with another port to its parent. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { MessagePort, Worker, WorkerOptions } from 'node:worker_threads'
import { linesAgain } from './lines.ts'

interface Job {
  readonly file?: string
  readonly workerData: unknown
  readonly parentPort: MessagePort
}

const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads')
const host = threads.parentPort as MessagePort
const Real = threads.Worker
const lineAgain = linesAgain(Real)
let uses = 0

function WorkerOrLine(file: string | URL, options: WorkerOptions = {}): object {
  return lineAgain(file, options) ?? Reflect.construct(Real, [file, options])
}
Object.assign(threads, { Worker: Object.assign(WorkerOrLine, { prototype: Real.prototype }) as unknown as typeof Worker })

host.on('message', ({ file, workerData, parentPort }: Job) => {
  if (file === undefined) return host.postMessage('alive')
  Object.assign(threads, { workerData, parentPort })
  syncBuiltinESMExports()
  import(`${file}?${uses++}`).catch((error) => {
    setImmediate(() => {
      throw error
    })
  })
})
