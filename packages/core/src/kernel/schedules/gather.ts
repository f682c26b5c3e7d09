/** Reads the schedules that a turn is about, and the last job of each. */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { Request } from '../../port.ts'
import type { Schedule } from '../records/ticks.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

export function gatherSchedules(plan: Plan, tables: Tables, facts: Facts, requests: readonly Request[], now: Now): void {
  const remember = (schedules: readonly Schedule[]) => schedules.map((read) => rememberWithJob(plan, facts, read))
  const named = new Set(requests.flatMap(({ command }) => namedBy(command) ?? []))
  if (named.size > 0) plan.ask('schedules', [[...named]], (read) => void remember(read))
  if (tables.freed.size > 0)
    plan.ask('schedules', [takeFreed(tables)], (read) => {
      facts.freedSchedules = remember(read)
    })
  if (tables.fireAt === 0 || tables.fireAt > now.wall || tables.ticksMono > now.mono) return
  plan.ask('dueSchedules', [now.wall, LIMITS.sliceSchedules], (read) => {
    facts.dueSchedules = remember(read)
    // All due schedules have fired. Without a later time the next turn would be due at once, for ever.
    if (read.length === 0)
      plan.ask('deadlines', [], ({ fireAt }) => {
        tables.fireAt = fireAt
      })
  })
}

function namedBy(command: Command): string | undefined {
  switch (command.op) {
    case 'upsertSchedule':
    case 'deleteSchedule':
    case 'pauseSchedule':
    case 'resumeSchedule':
    case 'triggerSchedule':
      return command.id
    default:
      return undefined
  }
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
