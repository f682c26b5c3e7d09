/**
 * Threads of one file, each of which answers one call at a time. One starts with the first call that finds none free, and stays for the
 * next. A thread that dies takes its call with it, and no other.
 */
import { parentPort, type Transferable, Worker, type WorkerOptions } from 'node:worker_threads'
import { threadOptions } from './start.ts'

export interface CallOptions {
  readonly transfer?: readonly Transferable[]
  /** Fails the call at once, and ends its thread: one that is busy in native code ends later. */
  readonly signal?: AbortSignal
}

interface Call {
  readonly message: unknown
  readonly transfer: readonly Transferable[]
  readonly settle: (value: unknown) => void
  readonly fail: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  readonly exited: Promise<void>
  call: Call | undefined
  /** The number of its last call. */
  calls: number
}

/** Names its call: other code in the thread may send messages of its own. */
type Answer = { readonly ofCall: number } & ({ readonly value: unknown } | { readonly error: unknown })

export class ThreadPool {
  readonly #file: URL
  readonly #most: number
  readonly #options: WorkerOptions
  readonly #threads = new Set<Thread>()
  /** Calls that wait for a thread, in order. */
  readonly #waiting = new Set<Call>()

  /** @param most the largest number of threads */
  constructor(file: URL, most: number, options: WorkerOptions) {
    this.#file = file
    this.#most = most
    this.#options = { ...threadOptions(), ...options }
  }

  /** Rejects with the error of the function, of a thread that died, or of the system if no thread could start. */
  async call(message: unknown, { transfer = [], signal }: CallOptions = {}): Promise<unknown> {
    signal?.throwIfAborted()
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<unknown>()
    const call: Call = { message, transfer, settle, fail }
    const kill = () => this.#kill(call, signal?.reason)
    signal?.addEventListener('abort', kill)
    this.#waiting.add(call)
    this.#hand()
    return promise.finally(() => signal?.removeEventListener('abort', kill))
  }

  /** Calls each thread once. None may be busy. */
  async callEach(message: unknown): Promise<void> {
    await Promise.allSettled(
      [...this.#threads].map((thread) => new Promise((settle, fail) => give(thread, { message, transfer: [], settle, fail }))),
    )
  }

  /** Ends all threads. Calls that have no answer yet fail. */
  async close(): Promise<void> {
    const threads = [...this.#threads]
    const error = new Error('the pool of threads is closed')
    for (const call of this.#waiting) call.fail(error)
    this.#waiting.clear()
    for (const thread of threads) this.#dismiss(thread, error)
    await Promise.all(threads.map(({ exited }) => exited))
  }

  /** Hands calls that wait to threads. */
  #hand(): void {
    for (const call of this.#waiting) {
      const free = [...this.#threads].find((thread) => thread.call === undefined)
      if (free === undefined && this.#threads.size >= this.#most) return
      this.#waiting.delete(call)
      try {
        give(free ?? this.#start(), call)
      } catch (error) {
        call.fail(error)
      }
    }
  }

  #start(): Thread {
    const worker = new Worker(this.#file, this.#options)
    const { promise: exited, resolve: exit } = Promise.withResolvers<void>()
    const thread: Thread = { worker, exited, call: undefined, calls: 0 }
    this.#threads.add(thread)
    worker.unref()
    worker.on('message', (answer: unknown) => {
      if (!isAnswer(thread, answer)) return
      take(thread, answer)
      this.#hand()
    })
    worker.on('messageerror', (error) => this.#dismiss(thread, error))
    // A thread that dies without a call has nobody to report to: another one takes its place.
    worker.on('error', (error) => this.#dismiss(thread, error))
    worker.on('exit', (code) => {
      this.#dismiss(thread, new Error(`the thread ended with code ${code} before it had answered`))
      exit()
    })
    return thread
  }

  #kill(call: Call, reason: unknown): void {
    const thread = [...this.#threads].find((other) => other.call === call)
    if (thread !== undefined) this.#dismiss(thread, reason)
    else if (this.#waiting.delete(call)) call.fail(reason)
  }

  #dismiss(thread: Thread, reason: unknown): void {
    this.#threads.delete(thread)
    take(thread, { error: reason })
    void thread.worker.terminate()
    this.#hand()
  }
}

/** Data that cannot be sent is refused here, and leaves the thread as it is. */
function give(thread: Thread, call: Call): void {
  thread.worker.postMessage({ ofCall: ++thread.calls, message: call.message }, call.transfer)
  thread.worker.ref()
  thread.call = call
}

function isAnswer({ call, calls }: Thread, message: unknown): message is Answer {
  return call !== undefined && (message as Partial<Answer> | null)?.ofCall === calls
}

function take(thread: Thread, answer: { readonly value: unknown } | { readonly error: unknown }): void {
  const { call, worker } = thread
  thread.call = undefined
  worker.unref()
  if ('error' in answer) call?.fail(answer.error)
  else call?.settle(answer.value)
}

/** Answers the calls of a pool, in its thread. Without a pool, as in a test, nobody calls. */
export function answerCalls<Message>(answer: (message: Message) => unknown): void {
  parentPort?.on('message', async ({ ofCall, message }: { readonly ofCall: number; readonly message: Message }) => {
    let reply: Answer
    try {
      reply = { ofCall, value: await answer(message) }
    } catch (error) {
      reply = { ofCall, error }
    }
    parentPort?.postMessage(reply)
  })
}
