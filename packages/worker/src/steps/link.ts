/** The engine, as the durable calls of a run see it. */
import {
  type CommandOf,
  type Data,
  isErrorOf,
  type RecordedPage,
  type ReplyOf,
  type RunError,
  type RunKey,
  type StepResult,
} from '@millrace/core'
import { runErrorOf } from '../runError.ts'
import type { NewResult, StepsLink } from './replay.ts'

type Ask = <Op extends 'recorded' | 'step' | 'wait'>(command: CommandOf<Op>) => Promise<ReplyOf[Op]>

/** @param ask repeats a command for as long as the run is held @param shown returns an error as it may be stored */
export function stepsLink(key: RunKey, ask: Ask, shown: (error: RunError) => RunError): StepsLink {
  const { seq, run } = key
  const record = ({ startedAt, number, asked, name, kind }: NewResult, value: Data, error: RunError | undefined) => {
    const command = { op: 'step', seq, run, startedAt, number, asked, name, kind, value } as const
    return ask<'step'>(error === undefined ? command : { ...command, error })
  }
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
    step: async (result) => {
      const error = result.error && shown(result.error)
      try {
        await record(result, result.value, error)
        return error
      } catch (refusal) {
        // Called again, the function would return the same: its step has failed.
        if (!isErrorOf(refusal, 'CodecError')) throw refusal
        const failed = shown(runErrorOf(refusal))
        await record(result, null, failed)
        return failed
      }
    },
    wait: (waits, settled, end) => ask<'wait'>({ op: 'wait', ...key, settled, waits, end }),
  }
}
