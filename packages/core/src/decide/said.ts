/** What callers have stated of jobs whose name is yet to be defined: the definition is to leave that as it is. */
import { FIELDS, type Field } from '../definition.ts'
import { type Job, TOUCH_PLACE } from '../job.ts'
import type { Tables } from '../tables/tables.ts'
import type { TurnContext } from './turn.ts'

/** What a caller has stated, in the order of FIELDS; undefined for nothing. */
export function saidOf(stated: Readonly<Partial<Record<Field, unknown>>>): readonly Field[] | undefined {
  const said = FIELDS.filter((field) => stated[field] !== undefined)
  return said.length === 0 ? undefined : said
}

/** A caller states more of a job that has yet to take the defaults of its name. */
export function sayMore({ tables, effects }: TurnContext, job: Job, stated: Readonly<Partial<Record<Field, unknown>>>): void {
  const said = saidOf(stated)
  if (said === undefined || !isUnsettled(tables, job)) return
  const all = new Set([...(job.extras?.said ?? []), ...said])
  job.extras = { ...job.extras, said: FIELDS.filter((field) => all.has(field)) }
  effects.touch(job, TOUCH_PLACE)
}

function isUnsettled({ definitions }: Tables, { seq, lane }: Job): boolean {
  if (seq < definitions.saidFrom) return false
  return definitions.get(lane.name) === undefined || seq < (definitions.settling.get(lane.name)?.before ?? 0)
}
