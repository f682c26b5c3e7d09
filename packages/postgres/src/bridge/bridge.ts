/**
 * A blocking call to the thread that talks to the server: the store is synchronous, and a connection is not. A call costs 14 µs beside the
 * server's own time.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { threadFile, threadOptions } from '@millrace/worker'
import type { BridgeData, BridgeError, Call, Reply, Request, Sent, Target } from './message.ts'
import { parameterOf } from './parameters.ts'
import type { Statement } from './statement.ts'

/** The server ends a statement after 10 s. A thread that says nothing for longer has lost its server. */
const SILENCE_MS = 15_000
const SILENT: BridgeError = { message: `the server has not answered for ${SILENCE_MS / 1_000} s`, code: undefined, constraint: undefined }

export type Rows = readonly unknown[][]

export interface Answer {
  readonly rows: readonly Rows[]
  readonly error: BridgeError | undefined
}

/** A bridge as a store uses it. */
export type StoreBridge = Pick<Bridge, 'backend' | 'opening' | 'connect' | 'run' | 'transact' | 'close'>

/** Makes the bridge to a server: with a thread of its own, unless the caller has another way. */
export type BridgeTo = (target: Target) => StoreBridge

export const newBridge: BridgeTo = (target) => new Bridge(target)

export class Bridge {
  readonly #worker: Worker
  readonly #port
  readonly #replies = new Int32Array(new SharedArrayBuffer(4))
  #calls = 0
  #backend = 0
  #openings = 0

  constructor(target: Target) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const workerData: BridgeData = { port: port2, replies: this.#replies, target }
    this.#worker = new Worker(threadFile('millrace-postgres', import.meta.url), { workerData, transferList: [port2], ...threadOptions() })
    this.#worker.unref()
  }

  /** The process of the server that the last connection is to, as the server reported it; 0 before the first one. */
  get backend(): number {
    return this.#backend
  }

  /** The number of connections so far. */
  get opening(): number {
    return this.#openings
  }

  /** Connects, again if there was a connection. */
  connect(): BridgeError | undefined {
    const { rows, error } = this.#call({ kind: 'connect' })
    this.#openings++
    if (error === undefined) this.#backend = rows[0]?.[0]?.[0] as number
    return error
  }

  run(statements: readonly Statement[]): Answer {
    return this.#call({ kind: 'run', statements: statements.map(sentOf) })
  }

  transact(statements: readonly Statement[]): Answer {
    return this.#call({ kind: 'transact', statements: statements.map(sentOf) })
  }

  close(): void {
    try {
      this.#call({ kind: 'close' })
    } finally {
      this.#port.close()
      void this.#worker.terminate()
    }
  }

  #call(request: Request): Reply {
    const id = ++this.#calls
    this.#port.postMessage({ id, body: request } satisfies Call<Request>)
    for (;;) {
      const seen = Atomics.load(this.#replies, 0)
      const received = receiveMessageOnPort(this.#port) as { readonly message: Call<Reply> } | undefined
      if (received?.message.id === id) return received.message.body
      // A reply to a call that was given up comes late.
      if (received !== undefined) continue
      // As if the connection had broken: the thread ends it with the next call.
      if (Atomics.wait(this.#replies, 0, seen, SILENCE_MS) === 'timed-out') return { rows: [], error: SILENT }
    }
  }
}

function sentOf({ text, values }: Statement): Sent {
  return { text, parameters: values.map(parameterOf) }
}
