/** Defaults in force for enqueues by plain name, and the worker that set them. */
import type { Defaults } from '../../commands.ts'
import { RUN_OPTION_NAMES, type RunOption } from '../../options/runOptions.ts'

/** The defaults of a job name that are in force. */
export interface Definition {
  readonly defaults: Defaults
  /** The session that has said so, or another that agreed when it went; empty in files of before. */
  readonly session: string
  /** Its public name. */
  readonly worker: string
  readonly host: string
  /** Wall time; 0 in files of before. */
  readonly saidAt: number
  /** Jobs of the name in rows before this one were enqueued when nothing was known of it. */
  readonly firstSeq: number
}

/** A name that was defined after jobs of it had been enqueued, or anew after its session had gone: they take its defaults, the newest first, a slice per turn. */
export interface Settling {
  /** Jobs in rows before this one are yet to be looked at. */
  before: number
  /** True if the name is defined for the first time. Otherwise no job is meant from before one that took the defaults of a session that was there. */
  readonly first: boolean
  /** The number of jobs at most; Infinity if the tables were loaded meanwhile. */
  left: number
}

/** A field of a job that a definition or a caller may state. */
export type Field = RunOption

export const FIELDS: readonly Field[] = RUN_OPTION_NAMES
