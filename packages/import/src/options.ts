/** The options of `importFrom`. */
import { checkKnown, choiceOption, type EnqueueOptions } from '@millrace/core'

/** The queues whose stores `importFrom` reads. */
export type ImportSource = 'bullmq' | 'pg-boss' | 'graphile-worker' | 'agenda'

/** The options of `importFrom`. */
export interface ImportFromOptions {
  /** The prefix of the keys, the schema or the collection. Default `bull`, `pgboss`, `graphile_worker` or `agendaJobs`. */
  readonly namespace?: string | undefined
  /** The queues (BullMQ, pg-boss), tasks (Graphile Worker) or job names (Agenda) to import. Default all of them. */
  readonly only?: readonly string[] | undefined
  /** If true, also imports jobs that a worker has. They run twice if that worker lives. Default false. */
  readonly includeActive?: boolean | undefined
  /** The name of all jobs. Default the name that each job has. */
  readonly name?: string | undefined
  /** New names of jobs by their old ones. Default none. */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** Overrides these options of every job. Default none. */
  readonly options?: EnqueueOptions | undefined
  /** Ends the import when it aborts: calls reject with its reason. Default none. */
  readonly signal?: AbortSignal | undefined
  /** Called with the number of entries, 0 or more, that have been read for the plan. Default none. */
  readonly onRead?: ((entries: number) => void) | undefined
}

const KNOWN = new Set(['namespace', 'only', 'includeActive', 'name', 'rename', 'options', 'signal', 'onRead'])

/** @throws OptionTypeError, OptionRangeError */
export function checkOptions(from: ImportSource, sources: readonly ImportSource[], options: ImportFromOptions): void {
  choiceOption('from', from, sources)
  checkKnown('importFrom', options, KNOWN)
}
