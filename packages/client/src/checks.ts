/**
 * Checks jobs against the schemas of this process's definitions, for every way in: by plain name here, over HTTP, by a
 * socket, or in schedules.
 */
import { type Command, type CommandOf, decodeData, errorFrom, type NewJob, type Operation, type Refusal, refusalFrom } from '@millrace/core'
import { checkSchema, type JobType } from '@millrace/worker'
import type { Mailbox } from './mailbox.ts'

type Calls = Pick<Mailbox, 'call'>

/** The sender of a command. Bytes from others may be encoded by a codec that is unknown here, so they are checked when they run. */
export type Sender = 'own' | 'other'

/** Checks jobs against the schemas that this process knows. */
export class JobChecks {
  readonly #types = new Map<string, JobType>()

  /**
   * Checks jobs of these types against their schemas even if they come by plain name: here, over HTTP, by the sockets of
   * `listen` and `share`, and in schedules. Jobs that do not fit are refused with ValidationError. Asynchronous schemas,
   * and data that another process's codec has encoded, are checked only before the run. Types without a schema are
   * ignored.
   */
  add(types: readonly JobType[]): void {
    for (const type of types) if (type.schema !== undefined) this.#types.set(type.name, type)
  }

  /** @internal @throws ValidationError if a command of this process has a job that does not fit its schema */
  assert(command: Command): void {
    const refusal = this.#types.size === 0 ? undefined : this.refusalOf(command, 'own')
    if (refusal !== undefined) throw errorFrom(refusal)
  }

  /** @internal Returns why the command is refused; undefined if all of its jobs fit their schemas, or if that is unknown. */
  refusalOf(command: Command, sender: Sender): Refusal | undefined {
    if (this.#types.size === 0) return undefined
    return this.#refusalOfJobs(jobsOf(command), sender)
  }

  /** @internal Returns calls that first check the jobs of each command. */
  around(calls: Calls): Calls {
    return {
      call: async <Op extends Operation>(command: CommandOf<Op>) => {
        this.assert(command as Command)
        return calls.call<Op>(command)
      },
    }
  }

  /**
   * @internal Returns the same command. A `forward` also lists its entries that do not fit: the engine refuses those that
   * it has not taken before, and takes the others.
   */
  checked<Asked extends Command>(command: Asked): Asked {
    if (command.op !== 'forward' || this.#types.size === 0) return command
    const unfit = new Map<number, Refusal>()
    let place = command.first
    for (const { jobs } of command.entries) {
      // Data from a journal or an outbox is already encoded.
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
      // An asynchronous schema is checked before the run.
      if (checked instanceof Promise) checked.catch(() => {})
      return undefined
    } catch (error) {
      return refusalFrom(error)
    }
  }
}

/**
 * Returns the jobs that are refused together with their command. Entries of a journal or an outbox are refused one by
 * one. Jobs that a run creates are checked when they run.
 */
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
