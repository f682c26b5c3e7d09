/** The addresses of screens that others lead to, each in one place. */
import { href } from './address.ts'

/** Terms of the query of jobs; `text` is what the jobs contain. */
export interface JobTerms {
  readonly state?: string
  readonly queue?: string
  readonly name?: string
  readonly tag?: string
  readonly key?: string
  readonly error?: string
  readonly worker?: string
  readonly schedule?: string
  readonly text?: string
}

export function jobsLink({ state, text, ...terms }: JobTerms = {}): string {
  const parts = Object.entries(terms).flatMap(([name, value]) => (value === undefined ? [] : [`${name}:${quoted(value)}`]))
  return href('/jobs', { state, q: [...parts, ...(text === undefined ? [] : [text])].join(' ') })
}

/** A value with a space or a quotation mark stands in quotation marks. */
function quoted(value: string): string {
  return /[\s"]/.test(value) || value === '' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : value
}

export const jobLink = (id: string): string => href('/jobs/{id}', {}, { id })
export const flowLink = (id: string): string => href('/flows/{id}', {}, { id })
export const queueLink = (name: string): string => href('/queues/{name}', {}, { name })
/** The group of failures is open beside the list. */
export const errorLink = (fingerprint: string): string => href('/errors', { group: fingerprint })
export const workerLink = (id: string): string => href('/workers', { worker: id })
export const scheduleLink = (id: string): string => href('/schedules', { schedule: id })
