/** Knows the tags that jobs must have, by what calls have asked for and what they were answered. */
import { type Command, formatId } from '@millrace/core'

/** Calls about the tags of one job that overlap. Whichever was the last to be decided counts. */
interface Asked {
  /** Calls that are not answered yet, or never will be: what they have done is not known. */
  open: number
  readonly answered: Set<string>
}

export class Labels {
  readonly #asked = new Map<string, Asked>()
  /** A bulk call may have changed any job. */
  #isMany = false
  /** Upserts of these may have given their waiting jobs back the tags that they were created with. */
  readonly #schedules = new Set<string>()

  /** A call has arrived at the engine. */
  asked(command: Command): void {
    if (command.op === 'upsertSchedule' && command.updateWaiting === true) this.#schedules.add(command.id)
    if (command.op === 'updateMany' && command.changes.tags !== undefined && !command.dryRun) this.#isMany = true
    const id = labelled(command)
    if (id === undefined) return
    const known = this.#asked.get(id)
    if (known === undefined || known.open === 0) this.#asked.set(id, { open: 1, answered: new Set() })
    else known.open++
  }

  /** A call was answered. */
  answered(command: Command, isDone: boolean): void {
    const id = labelled(command)
    const asked = id === undefined ? undefined : this.#asked.get(id)
    if (asked === undefined || command.op !== 'update') return
    asked.open--
    asked.answered.add(isDone ? JSON.stringify(command.changes.tags) : 'refused')
  }

  /** Returns the tags of a job as JSON; undefined if they are not known. */
  of(id: string, created: readonly string[] | undefined, schedule = ''): string | undefined {
    if (this.#isMany) return undefined
    const asked = this.#asked.get(id)
    if (asked === undefined) return JSON.stringify(created ?? [])
    if (this.#schedules.has(schedule)) return undefined
    const [tags, ...others] = asked.answered
    return asked.open > 0 || others.length > 0 || tags === 'refused' ? undefined : tags
  }
}

/** Returns the id of the job whose tags a call changes. */
function labelled(command: Command): string | undefined {
  return command.op === 'update' && command.changes.tags !== undefined ? formatId(command.id) : undefined
}
