/** The messages between the two ends of a connection: one in each frame. */
import type { Delivery, Refusal, Request, Scope } from '@millrace/core'

/** One of the two ends: `client` is the one that connected. */
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
  /** The answer to `hello`: from here on both ends may send at any time. */
  | {
      readonly type: 'welcome'
      /** The highest version that both ends speak. */
      readonly version: number
      /** The name and version of the server. */
      readonly server: string
      /** The file's number, which is part of every job's id. */
      readonly node: number
      readonly scopes: readonly Scope[]
      readonly limits: WireLimits
    }
  | { readonly type: 'requests'; readonly requests: readonly (Request | Refused)[] }
  | { readonly type: 'delivery'; readonly delivery: Delivery }
  | { readonly type: 'ping'; readonly nonce: number }
  /** Sent at once, with the nonce of the ping. */
  | { readonly type: 'pong'; readonly nonce: number }
  /** The last message of its sender; then the connection closes. */
  | {
      readonly type: 'goodbye'
      readonly code: string
      readonly message: string
      /** Milliseconds before the other end tries again: 0 = at once, -1 = it need not come back. */
      readonly retryAfterMs: number
    }

/** A request with a field that was wrong when a server read it; no client sends one. */
export interface Refused {
  readonly id: number
  readonly refusal: Refusal
}

export interface ClientIntro {
  /** The name and version of the client. */
  readonly library: string
  readonly host: string
  readonly pid: number
  /** Distinguishes the process from one that had its pid before: boot id, pid namespace and start time; empty if unknown. */
  readonly process: string
}

/** The limits that the server sets for one connection. */
export interface WireLimits {
  readonly frameBytes: number
  /** The most unanswered requests. */
  readonly requestsInFlight: number
  /** The most bytes of unanswered requests, as they arrived. */
  readonly bytesInFlight: number
  /** The time without a frame from the other end after which an end pings. */
  readonly pingMs: number
  /** The time without a frame from the other end after which it counts as dead. */
  readonly silenceMs: number
  /** The largest data, output or checkpoint that the engine stores, each; undefined if the server is too old to report it. */
  readonly dataBytes?: number
}
