/** Turns the answer of a batch handler into the end of each run. */
import { durationOption, validateSnoozeOptions } from '@millrace/core'
import type { RunContext } from '../context.ts'
import { type Ending, returned, threw } from '../execute.ts'
import type { Settlement } from '../settlement.ts'
import { SnoozeSignal } from '../snoozeSignal.ts'

/** Thrown if the handler has not said how a job ended. */
class BatchOutcomeError extends Error {
  override readonly name = 'BatchOutcomeError'
}

/** Returns one settlement for each of `contexts`, in their order. Never throws. */
export function settlementsOf(
  ending: Ending,
  contexts: readonly RunContext[],
  outcomes: unknown,
  maxDataBytes: number,
): readonly Settlement[] {
  const count = Array.isArray(outcomes) ? outcomes.length : undefined
  if (count !== contexts.length) {
    // If there are too few, they cannot be assigned: the handler may have left some out in the middle.
    const what = count === undefined ? 'no array' : `${count} outcomes`
    const error = new BatchOutcomeError(`the handler has answered ${what} for a batch of ${contexts.length} jobs: one for each, in order`)
    return contexts.map((context) => threw(ending, context, error))
  }
  return contexts.map((context, index) => {
    try {
      return settlementOf(ending, context, (outcomes as readonly unknown[])[index], maxDataBytes)
    } catch (error) {
      return threw(ending, context, error)
    }
  })
}

function settlementOf(ending: Ending, context: RunContext, outcome: unknown, maxDataBytes: number): Settlement {
  const fields = typeof outcome === 'object' && outcome !== null ? (outcome as Readonly<Record<string, unknown>>) : {}
  const [way, ...others] = (['output', 'error', 'snooze'] as const).filter((name) => name in fields)
  if (way === undefined || others.length > 0) {
    const what = way === undefined ? 'none' : 'more than one'
    throw new BatchOutcomeError(`the outcome of the job is ${what} of { output }, { error } and { snooze }: answer exactly one`)
  }
  if (way !== 'snooze' && fields['pause'] !== undefined) {
    throw new BatchOutcomeError(
      `the outcome of the job is { ${way}, pause }, and pause goes with snooze alone: use { snooze, pause }, or leave pause out`,
    )
  }
  if (way === 'output') return returned(ending, context, fields['output'], maxDataBytes)
  if (way === 'error') return threw(ending, context, fields['error'])
  const { pause } = validateSnoozeOptions({ pause: fields['pause'] })
  return threw(ending, context, new SnoozeSignal(durationOption('snooze', fields['snooze']), pause))
}
