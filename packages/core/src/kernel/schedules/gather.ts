/** Reads the schedules that a turn is about, and the last job of each. */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { Schedule } from '../records/ticks.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

export function gatherSchedules(plan: Plan, tables: Tables, facts: Facts, now: Now, isTickDue: boolean): void {
  const remember = (schedules: readonly Schedule[]) => schedules.map((read) => rememberWithJob(plan, facts, read))
  if (plan.schedules.length > 0) plan.ask('schedules', [[...new Set(plan.schedules)]], (read) => void remember(read))
  if (tables.freed.size > 0)
    plan.ask('schedules', [takeFreed(tables)], (read) => {
      facts.freedSchedules = remember(read)
    })
  if (!isTickDue) return
  plan.ask('dueSchedules', [now.wall, LIMITS.sliceSchedules], (read) => {
    facts.dueSchedules = remember(read)
    // All due schedules have fired. Without a later time the next turn would be due at once, for ever.
    if (read.length === 0)
      plan.ask('deadlines', [], ({ fireAt }) => {
        tables.fireAt = fireAt
      })
  })
}

function rememberWithJob(plan: Plan, facts: Facts, read: Schedule): Schedule {
  const schedule = facts.rememberSchedule(read)
  if (schedule.last !== undefined) plan.job(schedule.last.seq)
  return schedule
}

/** Takes some of the freed schedules. The next turn takes the rest. */
function takeFreed({ freed }: Tables): string[] {
  const taken: string[] = []
  for (const id of freed) {
    if (taken.length >= LIMITS.sliceSchedules) break
    freed.delete(id)
    taken.push(id)
  }
  return taken
}
