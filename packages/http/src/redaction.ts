/** The option `redact`: blanks values of payloads by their paths, in every answer that shows payloads. */
import type { Job, JobMessage, JobStep, PayloadPreview, PayloadPreviews, Schedule } from '@millrace/client'
import { describe, ForbiddenError, OptionRangeError, OptionTypeError, PAYLOADS, type PayloadName } from '@millrace/core'
import { ANY, BLANK, blankedStart, type Path } from './blankedStart.ts'
import { BOUNDS } from './limits.ts'

/** The payloads of jobs and schedules, values of progress and of steps, and the fields of log lines: a path begins with one of them. */
const ROOTS = [...PAYLOADS, 'meta', 'progressValue', 'steps', 'fields'] as const
/** The payloads that an answer names if something in them was blanked. */
export const REDACTED = [...PAYLOADS, 'meta', 'progressValue'] as const

type Root = (typeof ROOTS)[number]
type Payload = (typeof REDACTED)[number]

type Line = Job['attempts'][number]['logs'][number]

/** Names the payloads in which something was blanked. Absent if nothing was. */
interface Redacted {
  readonly redacted?: readonly Payload[]
}

/** A payload that was stored, with its blanks. */
interface Stored {
  /** JSON, or bytes. Undefined if it has paths, and is no JSON: its values are unknown. */
  readonly shown: string | Uint8Array | undefined
  readonly hides: boolean
}

/** A payload that is hidden as a whole. */
export const HIDDEN = { shown: JSON.stringify(BLANK), hides: true } as const

const NO_JSON: Stored = { shown: undefined, hides: true }

/** @throws OptionTypeError, OptionRangeError */
export function redactOption(value: unknown): readonly Path[] {
  if (!Array.isArray(value)) throw new OptionTypeError('redact', `redact must be an array of paths, got ${describe(value)}`)
  if (value.length > BOUNDS.redactPaths) {
    const message = `redact must have at most ${BOUNDS.redactPaths} paths, got ${value.length}: use * for any key`
    throw new OptionRangeError('redact', BOUNDS.redactPaths, message)
  }
  return value.map((path, index) => pathRead(`redact[${index}]`, path))
}

function pathRead(option: string, text: unknown): Path {
  if (typeof text !== 'string') throw new OptionTypeError(option, `${option} must be a path, got ${describe(text)}`)
  if (text.length > BOUNDS.redactLength) {
    const message = `${option} must have at most ${BOUNDS.redactLength} characters, got ${text.length}`
    throw new OptionRangeError(option, BOUNDS.redactLength, message)
  }
  const path = text.split('.')
  if (path.every(isKey) && [...ROOTS, ANY].includes(path[0] as Root)) return path
  const wanted = `keys with dots in between, the first one of ${ROOTS.join(', ')} and *, as 'data.user.email' or '*.password'`
  throw new OptionTypeError(option, `${option} must be ${wanted}, got ${describe(text)}`)
}

/** True for a key as it is, and for `*` alone. */
function isKey(key: string): boolean {
  return key === ANY || /^[^*[\]"']+$/.test(key)
}

export class Redaction {
  /** The paths below each root, without it. */
  readonly #below: ReadonlyMap<Root, readonly Path[]>

  constructor(paths: readonly Path[]) {
    const below = (root: Root) => paths.filter(([first]) => first === root || first === ANY).map((path) => path.slice(1))
    this.#below = new Map(ROOTS.map((root) => [root, below(root)]))
  }

  /** Returns the value of a payload with its blanks; the same value if there are none. */
  blanked<Value>(root: Root, value: Value): Value {
    if (value === undefined) return value
    return (this.#below.get(root) ?? []).reduce<unknown>(withBlank, value) as Value
  }

  /** True if a search, which looks at all of `data`, could find a hidden value. */
  get hidesFromSearch(): boolean {
    return this.#below.get('data')?.length !== 0
  }

  /**
   * Refuses to look for a value that is hidden: jobs that are found, or not, tell it letter by letter. A search looks at all of `data`,
   * so it is refused if that has hidden values; `data` and `meta` only if they ask for one.
   *
   * @throws ForbiddenError
   */
  refuseSearch({ search, data, meta }: { readonly search?: unknown; readonly data?: unknown; readonly meta?: unknown }): void {
    if (search !== undefined && this.hidesFromSearch)
      throw new ForbiddenError(
        'search looks into data, which has hidden values here (redact): filter by queue, name, tag, key or state, by data that is not hidden, or search for a whole short id',
      )
    for (const [root, wanted] of [
      ['data', data],
      ['meta', meta],
    ] as const)
      if (this.#asksFor(root, wanted))
        throw new ForbiddenError(`${root} asks for a value that is hidden here (redact): filter by queue, name, tag, key or state`)
  }

  /** Returns a payload as it is stored, or the beginning of one, with its blanks. */
  stored(root: PayloadName, payload: string | Uint8Array, isCut = false): Stored {
    if (this.#below.get(root)?.length === 0) return { shown: payload, hides: false }
    if (typeof payload !== 'string') return this.blanked(root, payload) === payload ? { shown: payload, hides: false } : HIDDEN
    if (isCut) return blankedStart(payload, this.#below.get(root) ?? []) ?? NO_JSON
    try {
      const value = JSON.parse(payload)
      const blanked = this.blanked(root, value)
      // Written anew even if nothing is hidden: if a key is there twice, the text has a value that no path has looked at.
      return { shown: JSON.stringify(blanked), hides: blanked !== value }
    } catch {
      return NO_JSON
    }
  }

  /** Returns the job with its blanks. `redacted` names the payloads that have some. */
  job(job: Job): Job & Redacted {
    const { attempts, data, output, checkpoint, meta, progressValue } = job
    const shown = attempts.map((attempt) => ({ ...attempt, logs: attempt.logs.map((line) => this.line(line)) }))
    const previews = this.#previews(job.preview)
    const payloads = this.#payloads({ data, output, checkpoint, meta, progressValue })
    const redacted = [...(previews.redacted ?? []), ...(payloads.redacted ?? [])]
    return { ...job, attempts: shown, ...previews, ...payloads, ...(redacted.length > 0 && { redacted }) }
  }

  /** Returns the schedule with its blanks. Its `meta` is among the options of its jobs. */
  schedule(schedule: Schedule): Schedule & Redacted {
    const { data, options, lastResult } = schedule
    const { meta, output, ...own } = this.#payloads({ data, output: lastResult?.output, meta: options['meta'] })
    return {
      ...schedule,
      ...own,
      ...(meta !== undefined && { options: { ...options, meta } }),
      ...(output !== undefined && lastResult !== undefined && { lastResult: { ...lastResult, output } }),
    }
  }

  /**
   * True if a part that payloads are to have is hidden. Items of an array are found at any index, and at the top a value that is no container
   * asks for the items of an array as well.
   */
  #asksFor(root: Root, wanted: unknown): boolean {
    if (wanted === undefined) return false
    const anywhere = (this.#below.get(root) ?? []).map((path) => path.map((key) => (/^\d+$/.test(key) ? ANY : key)))
    const asked = typeof wanted === 'object' && wanted !== null ? [wanted] : [wanted, [wanted]]
    return anywhere.some((path) => asked.some((each) => withBlank(each, path) !== each))
  }

  /** Returns the payloads that have blanks, and their names. */
  #payloads(payloads: Partial<Record<Payload, unknown>>): Partial<Record<Payload, unknown>> & Redacted {
    const changed = REDACTED.map((name) => [name, this.blanked(name, payloads[name])] as const).filter(
      ([name, value]) => value !== payloads[name],
    )
    return changed.length === 0 ? {} : { ...Object.fromEntries(changed), redacted: changed.map(([name]) => name) }
  }

  #previews(previews: PayloadPreviews | undefined): { readonly preview?: PayloadPreviews } & Redacted {
    if (previews === undefined) return {}
    const redacted: PayloadName[] = []
    const shown = Object.entries(previews).map(([key, preview]): [string, PayloadPreview] => {
      if (preview.start === undefined) return [key, preview]
      const name = key as PayloadName
      const { shown: start, hides } = this.stored(name, preview.start, preview.cut)
      if (hides) redacted.push(name)
      return [key, { ...preview, start, cut: preview.cut || start === undefined }]
    })
    return { preview: Object.fromEntries(shown), ...(redacted.length > 0 && { redacted }) }
  }

  /** Returns the result or the message with the blanks of its value. One that could not be decoded is hidden if any path may lead into it. */
  step<Shown extends JobStep | JobMessage>(step: Shown): Shown {
    if (step.undecoded === true && this.#below.get('steps')?.length !== 0) return { ...step, value: BLANK }
    const value = this.blanked('steps', step.value)
    return value === step.value ? step : { ...step, value }
  }

  /** Returns the log line with its blanks. */
  line<Shown extends Line>(line: Shown): Shown {
    const fields = this.blanked<unknown>('fields', line.fields)
    return fields === line.fields ? line : { ...line, fields: (fields === BLANK ? {} : fields) as NonNullable<Line['fields']> }
  }
}

/** Returns the value with a blank at each place that the path leads to. What is not changed is the same object as before. */
function withBlank(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return BLANK
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  const before = value as Record<string, unknown>
  let after = before
  for (const each of keysOf(before, key)) {
    const blank = withBlank(before[each], rest)
    if (blank === before[each]) continue
    if (after === before) after = (Array.isArray(before) ? [...before] : { ...before }) as typeof before
    after[each] = blank
  }
  return after
}

function keysOf(value: object, key: string): readonly string[] {
  if (key === ANY) return Object.keys(value)
  return Object.prototype.propertyIsEnumerable.call(value, key) ? [key] : []
}
