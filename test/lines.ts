/**
 * Uses the threads of lines to Postgres again: one whose line has closed its connection serves the next line. To start a thread and to load
 * the driver takes more processor time than to connect. The code of the line is the published one.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'

const FILE = /\/millrace-postgres\.js$/
/** The most threads that wait to be used again. */
const IDLE_MAX = 2

/** Runs a file as a thread of its own would. */
const HOST = `
const threads = require('node:worker_threads')
const { syncBuiltinESMExports } = require('node:module')
let uses = 0
threads.parentPort.on('message', ({ file, workerData }) => {
  Object.assign(threads, { workerData })
  syncBuiltinESMExports()
  import(file + '?' + uses++).catch((error) => setImmediate(() => { throw error }))
})`

/** Returns a function that makes the thread of a line; undefined for a thread of another kind. */
export function linesAgain(Real: typeof Worker): (file: string | URL, options: WorkerOptions) => object | undefined {
  const idle: Worker[] = []
  return (file, { workerData, transferList = [], execArgv }) => {
    if (!(file instanceof URL) || !FILE.test(file.pathname) || execArgv !== undefined) return undefined
    const thread = idle.pop() ?? new Real(HOST, { eval: true })
    thread.postMessage({ file: file.href, workerData }, transferList)
    return {
      unref: () => thread.unref(),
      // A line has closed its connection by then.
      terminate: () => (idle.length < IDLE_MAX ? idle.push(thread) : thread.terminate()),
    }
  }
}
