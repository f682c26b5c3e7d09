/** One operation of the API: what it takes, what it answers, who may call it, and what it does. The document is made of the same schemas. */

import type { z } from '@hono/zod-openapi'
import type { Engine } from '@millrace/client'
import type { Clock, Scope } from '@millrace/core'
import type { Caller } from './access/caller.ts'
import type { Cursors } from './cursors.ts'
import type { HttpSettings } from './options.ts'

/** What operations act upon. */
export interface Service {
  readonly engine: Engine
  readonly settings: HttpSettings
  readonly clock: Clock
  readonly cursors: Cursors
  /** When the API was built, by the monotonic clock. */
  readonly startedAt: number
}

/** A request that was let in, read and checked. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly request: Request
  readonly caller: Caller
  /** Whether the caller may do so still: for what goes on after it is answered. */
  stillMay(): Promise<boolean>
}

interface ResponseShape {
  readonly description: string
  /** Of `application/json`, where `type` says nothing else. */
  readonly schema?: z.ZodType
  readonly type?: string
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly id: string
  readonly method: Method
  /** As in OpenAPI: `/v1/jobs/{id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Undefined: no token is needed. */
  readonly scope?: Scope
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Query>
  readonly headers?: z.ZodType
  readonly body?: z.ZodType<Body>
  /** A request may come without its body, which then is `{}`. */
  readonly bodyOptional?: true
  /** Read by the operation itself, as a stream: its content types. */
  readonly stream?: readonly string[]
  readonly responses: Readonly<Record<number, ResponseShape>>
  /** Statuses of the errors that it knows beside those that all have. */
  readonly refusals?: readonly number[]
  /** For `audit`, beside the path's parameters: never payloads. */
  target?(body: Body): Readonly<Record<string, unknown>>
  handle(call: Call<Params, Query, Body>): Response | Promise<Response>
}

/** Ties the types of schemas to those that `handle` is given. */
export function operation<Params, Query, Body>(definition: Operation<Params, Query, Body>): Operation {
  return definition as Operation
}
