/**
 * Schemas of jobs that this process serves. What it lets in is held against them, whoever sends it: by plain name here, over HTTP, by a
 * socket, in schedules.
 */
import { type Command, type CommandOf, decodeData, errorFrom, type NewJob, type Operation, type Refusal, refusalFrom } from '@millrace/core'
import { checkSchema, type JobType } from '@millrace/worker'
import type { Mailbox } from './mailbox.ts'

type Calls = Pick<Mailbox, 'call'>

/** Who has sent a command: bytes of others may be encoded by a codec that is not known here, and are looked at when they are run. */
export type Sender = 'own' | 'other'

export class JobChecks {
  readonly #types = new Map<string, JobType>()

  /**
   * Jobs of these types are held against their schemas also where they come by their plain names: here, over HTTP, by the sockets of
   * `listen` and of `share`, and in schedules. Refused ones are a ValidationError. A schema that is asynchronous, and what another process's
   * codec has encoded, are looked at before the run alone. Types without a schema are left out.
   */
  add(types: readonly JobType[]): void {
    for (const type of types) if (type.schema !== undefined) this.#types.set(type.name, type)
  }

  /** @internal @throws ValidationError for what this process asks itself */
  assert(command: Command): void {
    const refusal = this.refusalOf(command, 'own')
    if (refusal !== undefined) throw errorFrom(refusal)
  }

  /** @internal Why the command is refused; undefined where all of its jobs are as their schemas say, or that is not known. */
  refusalOf(command: Command, sender: Sender): Refusal | undefined {
    if (this.#types.size === 0) return undefined
    return this.#refusalOfJobs(jobsOf(command), sender)
  }

  /** @internal Calls whose jobs are looked at before. */
  around(calls: Calls): Calls {
    return {
      call: async <Op extends Operation>(command: CommandOf<Op>) => {
        this.assert(command as Command)
        return calls.call<Op>(command)
      },
    }
  }

  /**
   * @internal The same command. A `forward` says which of its entries do not fit: the engine refuses those it has not taken before, and
   * takes the others.
   */
  checked<Asked extends Command>(command: Asked): Asked {
    if (command.op !== 'forward' || this.#types.size === 0) return command
    const unfit = new Map<number, Refusal>()
    let place = command.first
    for (const { jobs } of command.entries) {
      // What a journal or an outbox holds is encoded already.
      const refusal = this.#refusalOfJobs(jobs, 'other')
      if (refusal !== undefined) unfit.set(place, refusal)
      place += jobs.length
    }
    return unfit.size === 0 ? command : { ...command, unfit }
  }

  #refusalOfJobs(jobs: readonly NewJob[], sender: Sender): Refusal | undefined {
    for (const [index, job] of jobs.entries()) {
      const refusal = this.#refusalOf(job, sender)
      if (refusal === undefined) continue
      return jobs.length === 1 ? refusal : { ...refusal, message: `jobs[${index}]: ${refusal.message}` }
    }
    return undefined
  }

  #refusalOf({ name, data }: NewJob, sender: Sender): Refusal | undefined {
    const schema = this.#types.get(name)?.schema
    if (schema === undefined || (sender === 'other' && data instanceof Uint8Array)) return undefined
    try {
      const checked = checkSchema(schema, name, decodeData(data))
      // One that takes its time is asked before the run.
      if (checked instanceof Promise) checked.catch(() => {})
      return undefined
    } catch (error) {
      return refusalFrom(error)
    }
  }
}

/** Jobs that are refused with their command. Entries of a journal or an outbox are refused one by one; jobs that a run creates are checked when they run. */
function jobsOf(command: Command): readonly NewJob[] {
  switch (command.op) {
    case 'enqueue':
      return command.jobs
    case 'flow':
      return command.nodes.map(({ job }) => job)
    case 'upsertSchedule':
      return [command.job]
    default:
      return []
  }
}
