/**
 * Starts writer threads once and uses them again: a thread that has closed its store runs the next engine's writer. To start a thread takes
 * more processor time than most tests do. The code of the thread is the published one, from `runWriter` on, and so is all that goes through
 * its channels. A thread that fails, exits or is terminated is not used again.
 *
 * Processes that tests start, and threads of another kind, start each of their threads; those of lines to Postgres are in lines.ts.
 */
import { EventEmitter } from 'node:events'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { MessagePort, Worker, WorkerOptions } from 'node:worker_threads'
import { linesAgain } from './lines.ts'

type Threads = { Worker: typeof Worker }
const threads = createRequire(import.meta.url)('node:worker_threads') as Threads & typeof import('node:worker_threads')

const NAME = 'millrace-writer'
/** A process runs many test files, one after the other: it replaces the class once. */
const REPLACED = Symbol.for('millrace.test.writers')
/** The most threads that wait to be used again: a test of many engines leaves no more behind. */
const IDLE_MAX = 4

/** Runs the file of a writer as a thread of its own would. */
const HOST = new URL('./writersHost.ts', import.meta.url)

const Real = threads.Worker
const idle: Worker[] = []
const lineAgain = linesAgain(Real)

function takeThread(resourceLimits: WorkerOptions['resourceLimits']): Worker {
  const waiting = idle.pop()
  if (waiting !== undefined) return waiting
  const thread = new Real(HOST, { name: 'test-writers', ...(resourceLimits && { resourceLimits }) })
  thread.unref()
  return thread
}

/** Has the part of a `Worker` that the engine uses. */
class UsedAgain extends EventEmitter {
  readonly threadName = NAME
  readonly #thread: Worker
  readonly #port: MessagePort
  #over = false
  readonly #failed = (error: unknown): void => void this.emit('error', error)
  readonly #exited = (code: number): void => {
    // Messages that the thread sent before its end are received before it.
    for (
      let received = threads.receiveMessageOnPort(this.#port);
      received !== undefined;
      received = threads.receiveMessageOnPort(this.#port)
    )
      this.emit('message', received.message)
    this.#end(code)
  }

  readonly #parted = (): void => {
    if (idle.length < IDLE_MAX) idle.push(this.#thread)
    else void this.#thread.terminate()
    this.#end(0)
  }

  constructor(file: URL, { workerData, transferList = [], resourceLimits }: WorkerOptions) {
    super()
    const { port1, port2 } = new threads.MessageChannel()
    this.#port = port1
    this.#thread = takeThread(resourceLimits)
    this.#thread.on('error', this.#failed).on('exit', this.#exited)
    port1.on('message', (message: unknown) => this.emit('message', message))
    // The writer has ended, or its thread has died: a dead one does not answer.
    port1.on('close', () => {
      if (!this.#over) this.#thread.on('message', this.#parted).postMessage({})
    })
    this.#thread.postMessage({ file: file.href, workerData, parentPort: port2 }, [port2, ...transferList])
    process.nextTick(() => (process as EventEmitter).emit('worker', this))
  }

  get threadId(): number {
    return this.#thread.threadId
  }

  postMessage(message: unknown, transfer: readonly MessagePort[] = []): void {
    this.#port.postMessage(message, transfer)
  }

  ref(): void {
    this.#port.ref()
  }

  unref(): void {
    this.#port.unref()
  }

  terminate(): Promise<number> {
    return this.#over ? Promise.resolve(0) : this.#thread.terminate()
  }

  #end(code: number): void {
    if (this.#over) return
    this.#over = true
    this.#thread.off('error', this.#failed).off('exit', this.#exited).off('message', this.#parted)
    this.#port.close()
    this.emit('exit', code)
  }
}

function WorkerOrUsedAgain(file: string | URL, options: WorkerOptions = {}): object {
  const again = file instanceof URL && options.name === NAME && options.execArgv === undefined && options.env === undefined
  return again ? new UsedAgain(file, options) : (lineAgain(file, options) ?? Reflect.construct(Real, [file, options]))
}

if (!(REPLACED in threads)) {
  Object.assign(threads, {
    [REPLACED]: true,
    Worker: Object.assign(WorkerOrUsedAgain, { prototype: Real.prototype }) as unknown as typeof Worker,
  })
  syncBuiltinESMExports()
}
