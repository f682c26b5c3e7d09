/** The messages between the store's thread and the thread that talks to the server. */
import type { MessagePort } from 'node:worker_threads'

export type Parameter = string | Uint8Array | null

/** A statement with its parameters. A text is prepared once for each connection. */
export interface Sent {
  readonly text: string
  readonly parameters: readonly Parameter[]
}

/** The connection, and the statements that set it up. */
export interface Target {
  readonly url: string
  readonly setUp: readonly string[]
}

export type Request =
  /** Answered by the process of the server that the connection is to. */
  | { readonly kind: 'connect' }
  /** All in one round trip. They share a transaction that ends with the last of them. */
  | { readonly kind: 'run'; readonly statements: readonly Sent[] }
  /** All statements in one transaction and one round trip. */
  | { readonly kind: 'transact'; readonly statements: readonly Sent[] }
  | { readonly kind: 'close' }

export interface Reply {
  /** The rows of each statement, as arrays. */
  readonly rows: readonly (readonly unknown[][])[]
  readonly error: BridgeError | undefined
}

export interface BridgeError {
  readonly message: string
  /** The SQLSTATE; undefined if the connection broke. */
  readonly code: string | undefined
  /** The constraint that was violated. */
  readonly constraint: string | undefined
}

/** A request or a reply, with the number of its call. */
export interface Call<Body> {
  readonly id: number
  readonly body: Body
}

/** The data that the thread starts with. */
export interface BridgeData {
  readonly port: MessagePort
  /** Counts the replies: who waits for one is woken. */
  readonly replies: Int32Array
  readonly target: Target
}
