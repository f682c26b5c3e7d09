/** One operation of the API: its input, its answers, its scope and its handler. The document is generated from the same schemas. */

import type { z } from '@hono/zod-openapi'
import type { Engine } from '@millrace/client'
import type { Clock, Now } from '@millrace/core'
import type { Access } from './access/access.ts'
import type { Caller, Demand } from './access/caller.ts'
import type { Cursors } from './cursors.ts'
import type { HttpSettings } from './options.ts'
import type { Redaction } from './redaction.ts'

/** The objects that operations work with. */
export interface Service {
  readonly engine: Engine
  readonly settings: HttpSettings
  readonly clock: Clock
  readonly access: Access
  readonly cursors: Cursors
  readonly redaction: Redaction
  /** The time when the API was built. */
  readonly startedAt: Now
}

/** A request that was admitted, read and checked. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly request: Request
  readonly caller: Caller
  /** The origin of the request, as the server that mounts the API says it: see `HttpApi.fetch`. */
  readonly env: unknown
  /** Resolves with true if the caller is still allowed to, for answers that continue. */
  stillMay(): Promise<boolean>
}

interface ResponseShape {
  readonly description: string
  /** The schema of `application/json`, unless `type` names another type, or several. */
  readonly schema?: z.ZodType
  readonly type?: string | readonly string[]
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly id: string
  readonly method: Method
  /** The path as in OpenAPI: `/v1/jobs/{id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The scope that a token needs, or `any` of them. Undefined if no token is needed. */
  readonly scope?: Demand
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Query>
  readonly headers?: z.ZodType
  /** Without it, a body that is neither empty nor `{}` is refused. */
  readonly body?: z.ZodType<Body>
  /** Set if the body may be missing, and is then `{}`. */
  readonly bodyOptional?: true
  /** The maximum size of its body in bytes, if it is below `maxBodyBytes`. */
  readonly bodyBytes?: number
  /** The content types of a body that the operation itself reads, as a stream. */
  readonly stream?: readonly string[]
  readonly responses: Readonly<Record<number, ResponseShape>>
  /** Set if answers may be compressed: they have numbers, names and settings, and neither payloads nor secrets. */
  readonly compress?: true
  /** Statuses of its own errors, beside those that all operations have. */
  readonly refusals?: readonly number[]
  /** Returns details for `audit`, beside the path's parameters: never payloads. */
  target?(body: Body): Readonly<Record<string, unknown>>
  handle(call: Call<Params, Query, Body>): Response | Promise<Response>
}

/** Ties the types of schemas to those that `handle` gets. */
export function operation<Params, Query, Body>(definition: Operation<Params, Query, Body>): Operation {
  return definition as Operation
}

/** Returns true if a body that comes with a request is read: of every operation that is no GET, also if it takes none. */
export function mayBringBody({ method }: Operation): boolean {
  return method !== 'get'
}
