/**
 * Nothing is stored that is larger than the engine takes. Callers refuse it as they encode it, by the bound that they know of: this
 * holds for those that know another one, in whatever process, thread or language.
 */
import type { Command, NewJob } from '../commands.ts'
import { refusalFrom } from '../errors.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { findTooLarge } from '../options/data.ts'
import { Refused } from '../replies.ts'
import type { Settings } from './turn.ts'

/** Of a journal, `forward` looks at each entry by itself. */
export function findOversized(settings: Settings, command: Command): Refused | undefined {
  switch (command.op) {
    case 'enqueue':
      return findOversizedJob(settings, command.jobs)
    case 'complete':
      return of(settings, 'output', command.output) ?? (command.enqueues && findOversizedJob(settings, command.enqueues))
    case 'checkpoint':
      return of(settings, 'checkpoint', command.value)
    case 'flow':
      return findOversizedJob(
        settings,
        command.nodes.map(({ job }) => job),
      )
    case 'update': {
      const { data = null, checkpoint = null } = command.changes
      return of(settings, 'data', data) ?? of(settings, 'checkpoint', checkpoint)
    }
    case 'upsertSchedule':
      return of(settings, 'data', command.job.data)
    default:
      return undefined
  }
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
