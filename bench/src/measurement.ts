/** What one measurement is: a scenario runs in a process of its own, by its settings, and answers with figures. */

export type Durability = 'full' | 'normal'

/** All that a run depends on; every one is named in the result. */
export interface Settings {
  /** The database file, in a folder of its own. */
  readonly file: string
  readonly durability: Durability
  readonly jobs: number
  /** Calls awaited at the same time. */
  readonly inFlight: number
  /** Of the worker. */
  readonly concurrency: number
  /** Processes beside the engine's, among which the concurrency is shared out. */
  readonly workers: number
  /** Jobs in one call of `enqueueMany`. */
  readonly lot: number
  /** The shape of a backlog that is made, or lies in the file already. */
  readonly backlog: BacklogShape
  readonly backlogJobs: number
  /** Who offers the load to the event loop's host. */
  readonly load: 'none' | 'host' | 'thread'
  readonly seconds: number
  /** Results that each job records. */
  readonly stepsPerJob: number
  /** A name in `handlers.ts`; of a peer, the handler of `endToEnd`. */
  readonly handler: string
  /** In use, of `features.ts`. */
  readonly feature: string
  /** The other system, and what is asked of it. */
  readonly peer: string
  readonly task: PeerTask
  /** A folder with further `node_modules`, for peers whose packages are no dependency of this workspace. */
  readonly packages: string
}

/**
 * `waiting`, `scheduled`: of another name; `behind`: in the same lane, at a lower priority; `names`: waiting, spread over 50,000
 * names that nobody serves; `asleep`: of another name, in a handler that has recorded a result; `own`: waiting for the worker that
 * is measured.
 */
export type BacklogShape = 'none' | 'waiting' | 'scheduled' | 'behind' | 'names' | 'asleep' | 'own'

export type PeerTask = 'enqueue' | 'bulk' | 'drain' | 'endToEnd' | 'idle'

export type Figures = Readonly<Record<string, number>>
export type Scenario = (settings: Settings) => Promise<Figures>

export const DEFAULT_SETTINGS: Omit<Settings, 'file'> = {
  durability: 'normal',
  jobs: 1_000,
  inFlight: 500,
  concurrency: 500,
  workers: 1,
  lot: 1_000,
  backlog: 'none',
  backlogJobs: 0,
  load: 'none',
  seconds: 0,
  stepsPerJob: 0,
  handler: 'empty',
  feature: 'none',
  peer: '',
  task: 'endToEnd',
  packages: '',
}
