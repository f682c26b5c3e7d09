/**
 * Refuses data that is larger than the engine accepts. Callers refuse it when they encode it, by the limit that they know. This
 * check is for callers that know another limit, in any process, thread or language.
 */

import type { NewJob } from '../commands.ts'
import { Refused } from '../decision.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { type Command, traitsOf } from '../operations.ts'
import { findTooLarge } from '../options/data.ts'
import { refusalFrom } from '../refusal.ts'
import type { Settings } from './turn.ts'

/** Returns the refusal of an oversized command. `forward` checks each entry of its journal itself. */
export function findOversized(settings: Settings, command: Command): Refused | undefined {
  if (command.op === 'forward') return undefined
  const { newJobs, payloads } = traitsOf(command.op)
  if (payloads !== undefined) {
    for (const [what, payloadOf] of payloads) {
      const refused = of(settings, what, payloadOf(command) ?? null)
      if (refused !== undefined) return refused
    }
  }
  return newJobs && findOversizedJob(settings, newJobs(command))
}

export function findOversizedJob(settings: Settings, jobs: readonly NewJob[]): Refused | undefined {
  for (const { data } of jobs) {
    const refused = of(settings, 'data', data)
    if (refused !== undefined) return refused
  }
  return undefined
}

function of({ maxDataBytes = LIMITS.bytesPerCommand }: Settings, what: string, data: Data): Refused | undefined {
  const wrong = findTooLarge(what, data, maxDataBytes)
  return wrong && new Refused(refusalFrom(wrong))
}
