/** Another queue behind one small interface, set up as its own documentation recommends for speed. */
import type { Durability, PeerTask } from '../measurement.ts'
import type { Payload } from '../payload.ts'
import type { ServerKind } from './servers/server.ts'

export interface Peer {
  readonly name: string
  /** npm packages that must be there; the first gives its version to the result. */
  readonly packages: readonly string[]
  /** What must run beside; started for each run on a folder of its own, and ended by it. */
  readonly server: ServerKind | undefined
  /** In which an answer can mean: synced (`full`), or written and safe from a crash of the process (`normal`). */
  readonly classes: readonly Durability[]
  readonly tasks: readonly PeerTask[]
  /** Why a task is missing. */
  readonly without?: Partial<Readonly<Record<PeerTask, string>>>
  /** Why its handlers cannot do this. */
  readonly lacks: Partial<Readonly<Record<PeerAbility, string>>>
  /** Slower ones get fewer jobs; the number is named in the result. */
  readonly jobsMax: number
  /** How it is set up, in one line. */
  settings(durability: Durability): string
  open(options: PeerOptions): Promise<PeerQueue>
}

/** A handler's means that not every peer has: a log and progress of its job (`report`), a stored return value (`output`). */
export type PeerAbility = 'report' | 'output'

export interface PeerOptions {
  /** Of a database in a file. */
  readonly file: string
  /** Where its server listens; '' where there is none. */
  readonly address: string
  readonly durability: Durability
  /** Of the worker, where it has to be known early. */
  readonly concurrency: number
  /** True if the handler's return value is the job's output, for a peer that has to know. */
  readonly output: boolean
  load<T>(name: string): Promise<T>
}

export interface PeerQueue {
  /** Resolves when the system has answered. */
  enqueue(payload: Payload): Promise<unknown>
  /** One call for many; there where `bulk` is among the tasks. */
  enqueueMany?(payloads: readonly Payload[]): Promise<unknown>
  /** Starts to work; `handle` is called with each job, and the job ends when its promise does. */
  work(handle: PeerHandler, concurrency: number): Promise<PeerWorker>
  close(): Promise<void>
}

/** The same kinds of handlers for every peer: see `handlers.ts`. */
export type PeerHandler = (job: PeerJob) => unknown

export interface PeerJob {
  readonly payload: Payload
  readonly id: string | number | undefined
  /** Undefined if the peer gives its handlers none. */
  readonly attempt: number | undefined
  /** Logs a line and reports progress; there unless the peer lacks it. */
  report?(): Promise<unknown>
}

export interface PeerWorker {
  /** Resolves when every job that was handled is recorded as done, and nothing is under way. */
  stop(): Promise<void>
}
