/** What a command weighs among those of a turn. */
import { type Command, LIMITS } from '@millrace/core'

/** How many of `LIMITS.jobsPerTurn` a command takes. */
export function jobsOf(command: Command): number {
  if (command.op === 'enqueue') return command.jobs.length
  if (command.op === 'flow') return command.nodes.length
  if (command.op === 'forward') return command.entries.reduce((count, { jobs }) => count + jobs.length, 0)
  return 'dryRun' in command ? Math.min(command.limit, LIMITS.sliceRows) : 1
}
