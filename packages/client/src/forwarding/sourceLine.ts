/** The part of an engine that a source of an application, such as its outbox, needs. */
import type { Clock, Command, EnqueueOptions, Forwarded, Logger, NewJob, Refusal } from '@millrace/core'
import { OptionTypeError } from '@millrace/core'
import type { JobType } from '@millrace/worker'
import type { JobChecks } from '../checks.ts'
import type { Connectivity } from '../connectivity.ts'
import type { Mailbox } from '../mailbox.ts'
import { newJobOf } from '../newJobs.ts'
import type { PayloadCodec } from '../payloadCodec.ts'
import type { EngineSetup } from '../setup.ts'

export interface SourceLine {
  readonly clock: Clock
  readonly logger: Logger | undefined
  /** Returns the job as it is stored: checked, and encoded with the engine's codec. Synchronous, so it refuses asynchronous schemas. */
  newJob(job: JobType | string, data: unknown, options: EnqueueOptions | undefined): NewJob
  call(command: Command & { readonly op: 'forward' }): Promise<Forwarded>
  /** Returns why the engine accepts no more calls; undefined while it does. */
  ended(): Refusal | undefined
  readonly connectivity: Connectivity
}

export function sourceLine(
  setup: EngineSetup,
  checks: JobChecks,
  mailbox: Mailbox,
  codec: PayloadCodec | undefined,
  connectivity: Connectivity,
): SourceLine {
  const { clock, logger } = setup
  return {
    clock,
    logger,
    newJob(job, data, options) {
      const made = newJobOf(job, data, options, setup.maxDataBytes)
      if (made instanceof Promise) {
        made.catch(() => {})
        const { name } = job as JobType
        throw new OptionTypeError(
          'schema',
          `the schema of job '${name}' is asynchronous, and a transaction does not wait: await engine.enqueue instead`,
        )
      }
      checks.assert({ op: 'enqueue', jobs: [made] })
      return codec === undefined ? made : (codec.encodeJobs([made])[0] as NewJob)
    },
    call: (command) => mailbox.call<'forward'>(checks.checked(command)),
    ended: () => mailbox.ended,
    connectivity,
  }
}
