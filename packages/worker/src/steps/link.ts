/** The engine, as the durable calls of a run see it. */
import { type CommandOf, isErrorOf, type RecordedPage, type ReplyOf, type RunError, type RunKey, type StepResult } from '@millrace/core'
import { runErrorOf } from '../runError.ts'
import type { StepsLink } from './replay.ts'

type Ask = <Op extends 'recorded' | 'step' | 'wait'>(command: CommandOf<Op>) => Promise<ReplyOf[Op]>

/** @param ask repeats a command for as long as the run is held @param shown returns an error as it may be stored */
export function stepsLink(key: RunKey, ask: Ask, shown: (error: RunError) => RunError): StepsLink {
  return {
    recorded: async () => {
      const results: StepResult[] = []
      for (let after = 0; ; ) {
        const { results: page, next, generation, waits }: RecordedPage = await ask<'recorded'>({ op: 'recorded', ...key, after })
        results.push(...page)
        if (next === null) return { results, generation, waits }
        after = next
      }
    },
    step: async ({ error: failed, ...result }) => {
      const record = async (error: RunError | undefined, value = result.value) => {
        await ask<'step'>({ op: 'step', ...key, ...result, value, ...(error && { error }) })
        return error
      }
      try {
        return await record(failed && shown(failed))
      } catch (error) {
        // Called again, the function would return the same: its step has failed.
        if (!isErrorOf(error, 'CodecError')) throw error
        return record(shown(runErrorOf(error)), null)
      }
    },
    wait: (waits, settled, end) => ask<'wait'>({ op: 'wait', ...key, settled, waits, end }),
  }
}
