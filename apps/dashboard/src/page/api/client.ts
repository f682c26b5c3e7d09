/** Calls of the API. The session is a cookie, which only the browser sees. */
import type { Clock } from '../clock.ts'
import type { Answers, Path, Query } from './answers.ts'
import { ApiError, problemOf } from './problem.ts'
import { RawJson } from './rawJson.ts'

export type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Api {
  get<P extends Path>(path: P, query?: Query, signal?: AbortSignal): Promise<Answers[P]>
  /** Changes something. Resolves with the answer's body, undefined if it has none. */
  send(method: Method, path: string, body?: unknown): Promise<unknown>
}

interface Surroundings {
  readonly fetch: typeof fetch
  readonly clock: Clock
  /** The path that the API is mounted at: '' for the root. */
  readonly basePath: string
}

const TIMEOUT_MS = 30_000

export function createApi({ fetch, clock, basePath }: Surroundings): Api {
  async function call(url: string, init: RequestInit): Promise<unknown> {
    const late = new AbortController()
    const callOff = clock.after(TIMEOUT_MS, () => late.abort())
    const signal = init.signal == null ? late.signal : AbortSignal.any([init.signal, late.signal])
    try {
      const response = await answered(
        fetch(basePath + url, { ...init, signal, credentials: 'same-origin', cache: 'no-store' }),
        late.signal,
      )
      if (!response.ok) throw await problemOf(response)
      return response.status === 204 ? undefined : await response.json()
    } finally {
      callOff()
    }
  }
  return {
    get: (path, query = {}, signal) => call(path + queryText(query, clock.now()), signal === undefined ? {} : { signal }) as Promise<never>,
    send: (method, path, body = {}) =>
      call(path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body instanceof RawJson ? body.text : JSON.stringify(body),
      }),
  }
}

async function answered(response: Promise<Response>, late: AbortSignal): Promise<Response> {
  try {
    return await response
  } catch (error) {
    if (late.aborted) throw new ApiError(0, 'TIMEOUT', `there was no answer within ${TIMEOUT_MS / 1_000} s`)
    if ((error as Error).name === 'AbortError') throw error
    throw new ApiError(0, 'UNREACHABLE', 'the server cannot be reached')
  }
}

/** Returns the query with its question mark; what is undefined or empty is left out. */
export function queryText(query: Query, now: number): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, textOf(value, now)]))}`
}

function textOf(value: Query[string], now: number): string {
  return typeof value === 'object' ? new Date(now - value.agoMs).toISOString() : `${value}`
}
