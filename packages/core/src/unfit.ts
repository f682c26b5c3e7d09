/** Marks the entries of a `forward` that are refused alone, so that the rest of a journal continues. */
import type { CheckedForward, NewJob } from './commands.ts'
import type { Refusal } from './refusal.ts'

/** Returns the command with the entries for whose jobs `refusalOf` returns a refusal, beside those that are known to be unfit. */
export function withUnfit(command: CheckedForward, refusalOf: (jobs: readonly NewJob[]) => Refusal | undefined): CheckedForward {
  const unfit = new Map(command.unfit)
  let place = command.first
  for (const { jobs } of command.entries) {
    const refusal = refusalOf(jobs)
    if (refusal !== undefined) unfit.set(place, refusal)
    place += jobs.length
  }
  return unfit.size === 0 ? command : { ...command, unfit }
}
