/** Notes what callers have stated for jobs whose name is yet to be defined. The definition leaves that as it is. */

import type { NewJob } from '../../commands.ts'
import { type Definition, FIELDS, type Field } from '../records/definition.ts'
import { DIRTY_PLACE, type Job } from '../records/job.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Returns the fields that a caller has stated, in the order of FIELDS; undefined for none. */
export function explicitFields(stated: Readonly<Partial<Record<Field, unknown>>>): readonly Field[] | undefined {
  // Most calls state nothing.
  let explicit: Field[] | undefined
  for (const field of FIELDS) {
    if (stated[field] === undefined) continue
    explicit ??= []
    explicit.push(field)
  }
  return explicit
}

/** Returns what is noted of a new job whose defaults are not those of a session that is there: what its caller has stated. */
export function explicitFieldsOfNew(job: NewJob, definition: Definition | undefined): readonly Field[] | undefined {
  return definition === undefined ? explicitFields(job) : (explicitFields(job) ?? [])
}

/** Adds fields that a caller states for a job that has yet to take the defaults of its name. */
export function addExplicit({ tables, effects }: TurnContext, job: Job, stated: Readonly<Partial<Record<Field, unknown>>>): void {
  const explicit = explicitFields(stated)
  if (explicit === undefined || !isUnsettled(tables, job)) return
  const all = new Set([...(job.extras?.explicit ?? []), ...explicit])
  job.extras = { ...job.extras, explicit: FIELDS.filter((field) => all.has(field)) }
  effects.touch(job, DIRTY_PLACE)
}

/** Does the same for fields that a caller replaces: those that it no longer states are the definition's again. */
export function replaceExplicit(turn: TurnContext, job: Job, stated: Readonly<Partial<Record<Field, unknown>>>): void {
  if (!isUnsettled(turn.tables, job)) return
  const before = job.extras?.explicit ?? []
  const explicit = FIELDS.filter((field) => (field in stated ? stated[field] !== undefined : before.includes(field)))
  if (explicit.length === before.length && explicit.every((field) => before.includes(field))) return
  const { explicit: _explicit, ...others } = job.extras ?? {}
  job.extras = { ...others, ...((explicit.length > 0 || job.extras?.explicit !== undefined) && { explicit }) }
  turn.effects.touch(job, DIRTY_PLACE)
}

function isUnsettled({ definitions }: Tables, { seq, run, extras, lane: { name } }: Job): boolean {
  if (run === 0 && extras?.explicit !== undefined) return true
  const definition = definitions.inForce.get(name)
  return definition === undefined || (definitions.isUnserved(name) && seq < definition.firstSeq)
}
