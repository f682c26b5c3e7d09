/**
 * The table of texts that a caller gives a job, and that the engine keeps with it. A text is a row here, and a property with its
 * documentation. Its check, its places on the wire and in packed lists, its HTTP schema, its command-line flag, its field in answers, the
 * search that finds it and its documentation derive from the row.
 */
import { LIMITS } from '../limits.ts'
import { checkOf, type Row } from './kind.ts'

export interface JobTexts {
  /** The key that the queue's `perKeyLimit`, `perKeyRateLimit` and `keyOrder` count by: 1 to 512 characters, default none. */
  readonly concurrencyKey?: string
  /** One line for people, such as `'Invoice 2041 for Acme'`: lists show it, and a search finds it. 1 to 200 characters, default none. */
  readonly summary?: string
}

export type JobText = keyof JobTexts

export const JOB_TEXTS = {
  concurrencyKey: {
    kind: { type: 'text', max: LIMITS.keyLength },
    says: 'Key that the limits per key of its queue count by',
  },
  summary: {
    kind: { type: 'text', max: 200 },
    says: 'One line for people about the job, which lists show and a search finds',
  },
} as const satisfies Record<JobText, Row>

export const JOB_TEXT_NAMES = Object.keys(JOB_TEXTS) as JobText[]

/** The same in an answer: null where the job has none. */
export type JobTextsView = { readonly [Name in JobText]: string | null }

const CHECKS = JOB_TEXT_NAMES.map((name) => [name, checkOf(JOB_TEXTS[name].kind)] as const)

/** Reads the texts into `job`, leaving out what is not set. Throws OptionTypeError, OptionRangeError. */
export function readJobTexts(options: Readonly<Record<string, unknown>>, job: { -readonly [Name in JobText]?: string }): void {
  for (const [name, check] of CHECKS) if (options[name] !== undefined) job[name] = check(name, options[name])
}

/** Returns a value for each text. */
export function mapJobTexts<Value>(value: (name: JobText) => Value): { readonly [Name in JobText]: Value } {
  const texts: Partial<Record<JobText, Value>> = {}
  for (const name of JOB_TEXT_NAMES) texts[name] = value(name)
  return texts as { readonly [Name in JobText]: Value }
}
