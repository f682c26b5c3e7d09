/** Checks input against its schema. */
import type { z } from '@hono/zod-openapi'
import { describe } from '@millrace/core'
import { type Fault, type HttpError, invalid } from '../errors.ts'
import { BOUNDS } from '../limits.ts'
import { Words } from './words.ts'

type Place = 'body' | 'path' | 'query' | 'header'

/** @throws HttpError 400 that names each fault */
export function check<Value>(schema: z.ZodType<Value>, value: unknown, place: Place): Value {
  const words = new Words()
  // Zod asks for words only where the input is not valid.
  const checked = schema.safeParse(value, { error: (issue) => words.of(issue) })
  if (checked.success) return checked.data
  throw refused(faultsOf(checked.error.issues, [place], words), `the ${place} is not valid`)
}

/**
 * Checks the body of an operation that takes none: an option that is passed over would do more than its sender meant.
 *
 * @throws HttpError 400 unless nothing was sent, or `{}`
 */
export function refuseBody(body: unknown): void {
  if (body === undefined) return
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refused([{ path: 'body', message: `must be empty or {}, got ${describe(body)}: ${NO_BODY}` }])
  const keys = Object.keys(body).slice(0, BOUNDS.faults)
  if (keys.length > 0) throw refused(keys.map((key) => ({ path: textOf(['body', key]), message: `is unknown: ${NO_BODY}` })))
}

const NO_BODY = 'this operation takes no body'

function refused(faults: readonly Fault[], otherwise = ''): HttpError {
  const [first] = faults
  return invalid(first === undefined ? otherwise : `${first.path} ${first.message}`, faults)
}

type Issues = z.ZodError['issues']

/** The first of them: there may be as many as bytes in the request, and a hint is dear. */
function faultsOf(issues: Issues, base: readonly PropertyKey[], words: Words): Fault[] {
  const faults: Fault[] = []
  for (const issue of issues) {
    const path = [...base, ...issue.path]
    const room = BOUNDS.faults - faults.length
    if (room === 0) break
    if (issue.code !== 'unrecognized_keys') faults.push({ path: textOf(path), message: issue.message.slice(0, 500) })
    else
      for (const key of issue.keys.slice(0, room))
        faults.push({ path: textOf([...path, key]), message: words.unknownKey(issue.path, key).slice(0, 500) })
  }
  return faults
}

function textOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, 200)
}

/**
 * Returns the query as an object, each key once.
 *
 * @throws HttpError 400
 */
export function readQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  const at = url.indexOf('?')
  if (at < 0) return query
  for (const [key, value] of new URLSearchParams(url.slice(at + 1))) {
    if (key in query) throw invalid(`query.${key} is given twice`, [{ path: `query.${key}`, message: 'is given twice' }])
    query[key] = value
  }
  return query
}
