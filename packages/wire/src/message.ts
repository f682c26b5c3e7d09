/** What the two ends of a connection say to each other: one message a frame. */
import type { Delivery, Request, Scope } from '@millrace/core'

/** `client`: the end that connected. */
export type Role = 'client' | 'server'

export type Message =
  /** The first message of a connection. */
  | {
      readonly type: 'hello'
      /** The lowest and the highest version that the client speaks. */
      readonly versions: readonly [min: number, max: number]
      readonly token: string | undefined
      readonly client: ClientIntro
    }
  /** The answer to `hello`: from here on both ends may say what they like. */
  | {
      readonly type: 'welcome'
      /** The highest that both ends speak. */
      readonly version: number
      /** Name and version of the server. */
      readonly server: string
      /** The file's number, which is part of every job's id. */
      readonly node: number
      readonly scopes: readonly Scope[]
      readonly limits: WireLimits
    }
  | { readonly type: 'requests'; readonly requests: readonly Request[] }
  | { readonly type: 'delivery'; readonly delivery: Delivery }
  | { readonly type: 'ping'; readonly nonce: number }
  /** At once, with the nonce of the ping. */
  | { readonly type: 'pong'; readonly nonce: number }
  /** The last message of whoever says it; then the connection closes. */
  | {
      readonly type: 'goodbye'
      readonly code: string
      readonly message: string
      /** Milliseconds before the other end tries again: 0 = at once, -1 = it need not come back. */
      readonly retryAfterMs: number
    }

export interface ClientIntro {
  /** Name and version. */
  readonly library: string
  readonly host: string
  readonly pid: number
  /** What tells the process from one that had its pid before: boot id, pid namespace and start time; empty where unknown. */
  readonly process: string
}

/** What the server takes from one connection. */
export interface WireLimits {
  readonly frameBytes: number
  /** Unanswered. */
  readonly requestsInFlight: number
  /** Of unanswered requests, as they came. */
  readonly bytesInFlight: number
  /** Without a frame from the other end for so long, a ping. */
  readonly pingMs: number
  /** Without a frame from the other end for so long, it is taken for dead. */
  readonly silenceMs: number
  /** Of data, output and checkpoint each, with the engine; undefined where the server is too old to say. */
  readonly dataBytes?: number
}
