/** A copy of a job with other data: finished jobs cannot be changed. Numbers keep the digits that were typed. */

import type { JobAnswer } from '../../api/answers.ts'
import { own } from '../../api/own.ts'
import { RawJson } from '../../api/rawJson.ts'
import { REDACTED } from '../../parts/json/lines.ts'
import { parseJson } from '../../parts/json/parse.ts'
import { writeJson } from '../../parts/json/write.ts'
import { JOB_PAGE_TEXT as text } from './text.ts'

/** Options that the copy has as the job has them, if they say something. Keys that must be there once are not among them. */
const OPTIONS = ['queue', 'priority', 'weight', 'tags', 'concurrencyKey', 'maxAttempts', 'backoff'] as const
/** Null means no limit. */
const LIMITS = ['timeout', 'heartbeatTimeout'] as const

/** Returns the text to edit, or why there is none. */
export function editable({ preview, redacted }: JobAnswer): { readonly source: string } | { readonly refusal: string } {
  const data = preview?.data
  if (data === undefined) return { source: '' }
  if (data.binary || data.text === undefined) return { refusal: text.copy.binary }
  if (data.cut) return { refusal: text.copy.large }
  if (redacted?.includes('data') || data.text.includes(REDACTED)) return { refusal: text.copy.hidden }
  const node = parseJson(data.text)
  return node === undefined ? { refusal: text.copy.binary } : { source: writeJson(node) }
}

/** Returns what is wrong with the text; undefined if it can be sent. Nothing at all is no data. */
export function faultOf(source: string): string | undefined {
  if (source.trim() === '') return undefined
  try {
    JSON.parse(source)
    return undefined
  } catch (error) {
    return text.copy.invalid((error as Error).message)
  }
}

/** The request for the copy. */
export function copyRequest(job: JobAnswer, source: string): RawJson {
  const known = job as Readonly<Record<string, unknown>>
  const given = OPTIONS.flatMap((name) => (own(known, name) == null ? [] : [[name, own(known, name)] as const]))
  const limits = LIMITS.flatMap((name) => (own(known, name) === undefined ? [] : [[name, own(known, name)] as const]))
  const meta = typeof job.meta === 'object' && job.meta !== null ? job.meta : {}
  const options = { ...Object.fromEntries([...given, ...limits]), meta: { ...meta, copyOf: job.id } }
  const data = source.trim() === '' ? '' : `,"data":${source}`
  return new RawJson(`{"job":${JSON.stringify(job.name)}${data},"options":${JSON.stringify(options)}}`)
}
