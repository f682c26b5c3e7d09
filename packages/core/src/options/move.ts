/** The options of `moveStore`. */
import { OptionTypeError } from '../errors.ts'
import { booleanOption } from './choice.ts'
import { describe } from './describe.ts'
import type { FileUrl } from './fileUrl.ts'
import { DEFAULT_SCHEMA, fileOption, postgresOption, schemaOption } from './open.ts'
import { choiceOf, optionsReader } from './read.ts'
import { type StopSignal, signalOption } from './result.ts'

/** A store: a file, or a schema of Postgres. */
export type StoreAddress<Path = string | FileUrl> =
  | {
      /** Path or `file:` URL of the database file. */
      readonly file: Path
      /** See `OpenOptions`. */
      readonly unsafeFilesystem?: 'refuse' | 'allow'
    }
  | { readonly postgres: string; readonly schema?: string }

/** The options of `moveStore`. */
export interface MoveOptions {
  /** The store to move, which no process has open. */
  readonly from: StoreAddress
  /** The store to move to: one that does not exist yet, or in which an earlier move from `from` was interrupted. */
  readonly to: StoreAddress
  /**
   * If true, jobs whose workers have gone are given up first, so that they wait again, and what is in the inbox becomes jobs. Default false:
   * a store with active jobs, or with entries in its inbox, is refused.
   */
  readonly drain?: boolean
  /** Stops the move between two pages; the same call goes on from there. Rejects with its reason. Default none. */
  readonly signal?: StopSignal
  /** Called after each page. Default none. */
  readonly onProgress?: (progress: MoveProgress) => void
}

/** How far a move is. */
export interface MoveProgress {
  /** `drain`: waits until no job is active; `copy`: copies; `check`: compares both stores. */
  readonly phase: 'drain' | 'copy' | 'check'
  /** The table; empty in the phase `drain`. */
  readonly table: string
  /** The rows of this table so far; in the phase `drain` the active jobs and the entries of the inbox that are left. */
  readonly rows: number
}

/** The result of a move. */
export interface Moved {
  /** The tables, in the order in which they were copied. */
  readonly tables: readonly MovedRows[]
}

/** A table that is equal in both stores. */
export interface MovedRows {
  readonly table: string
  readonly rows: number
  /** The rows' SHA-256 digests, of 16 bytes each, by exclusive or: in hexadecimal digits. */
  readonly checksum: string
}

export type MoveSettings = Omit<MoveOptions, 'from' | 'to' | 'drain'> & {
  readonly from: StoreAddress<string>
  readonly to: StoreAddress<string>
  readonly drain: boolean
}

const readFile = (option: string) =>
  optionsReader('moveStore', { file: fileOnDisk, unsafeFilesystem: choiceOf(['refuse', 'allow']) }, { within: `${option}.` })
const readSchema = (option: string) =>
  optionsReader('moveStore', { postgres: postgresOption, schema: schemaOption }, { within: `${option}.` })

const read = optionsReader(
  'moveStore',
  { from: storeOption, to: storeOption, drain: booleanOption, signal: signalOption, onProgress: callbackOption },
  { example: "moveStore({ from: { file: 'jobs.db' }, to: { postgres: 'postgres://…' } })" },
)

/** @throws OptionTypeError */
export function validateMoveOptions(options: unknown): MoveSettings {
  const { from = storeOption('from', undefined), to = storeOption('to', undefined), drain = false, ...given } = read(options)
  return { from, to, drain, ...given }
}

function storeOption(option: string, value: unknown): StoreAddress<string> {
  if (typeof value !== 'object' || value === null || !('file' in value || 'postgres' in value))
    throw new OptionTypeError(option, `${option} must be { file } or { postgres, schema }, got ${describe(value)}`)
  if ('file' in value) {
    const { file = fileOnDisk(`${option}.file`, undefined), ...given } = readFile(option)(value)
    return { file, ...given }
  }
  const { postgres = postgresOption(`${option}.postgres`, undefined), schema = DEFAULT_SCHEMA } = readSchema(option)(value)
  return { postgres, schema }
}

function fileOnDisk(option: string, value: unknown): string {
  const file = fileOption(option, value)
  if (file === ':memory:') throw new OptionTypeError(option, `${option} must be a file on disk, got ':memory:'`)
  return file
}

function callbackOption(option: string, value: unknown): (progress: MoveProgress) => void {
  if (typeof value !== 'function') throw new OptionTypeError(option, `${option} must be a function, got ${describe(value)}`)
  return value as (progress: MoveProgress) => void
}
