/** The folder with the logs of runs, bounded by age, by number and by total size. */
import { mkdirSync, statSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionTypeError } from '@millrace/core'
import { type JobInfo, systemClock } from '@millrace/worker'
import { RunLog } from './log.ts'
import { beginRecord, endRecord, recordGroup } from './record.ts'
import { sweep } from './sweep.ts'

export interface LogBounds {
  /** The maximum size of one run's log. */
  readonly logBytes: number
  /** The maximum size of all logs together. */
  readonly folderBytes: number
  readonly ageMs: number
}

const LOG = /^([0-9a-f-]{36}-\d+)(?:\.[12])?\.log$/
/** The maximum number of runs with logs, whatever their size. */
const RUNS_MAX = 10_000
/** The folder is tidied after this many runs, after this fraction of its maximum size was written, or after this time. */
const TIDY_RUNS = 500
const TIDY_SHARE = 16
const TIDY_MS = 600_000

/** The files of one run. */
export interface RunFiles {
  readonly log: RunLog
  /** Records the process group. Call it in the tick in which the command is started. */
  started(pid: number): void
  /** Closes the log. Call it when nothing of the command runs any more. */
  over(): Promise<void>
}

export class LogFolder {
  readonly path: string
  readonly #bounds: LogBounds
  /** The runs of this worker. A system that does not report processes has no records of them. */
  readonly #running = new Set<string>()
  #runs = 0
  #bytes = 0
  #tidiedMono = Number.NEGATIVE_INFINITY
  #tidying: Promise<void> | undefined

  /**
   * Creates the folder if it is missing, and ends the commands that a killed worker has left running.
   *
   * @throws OptionTypeError if the folder belongs to another user, or others may enter it
   */
  constructor(path: string, bounds: LogBounds) {
    this.path = path
    this.#bounds = bounds
    makeFolder(path)
    sweep(path, systemClock.read().wall - bounds.ageMs)
  }

  async begin({ id, run }: JobInfo): Promise<RunFiles> {
    const name = `${id}-${run}`
    const record = join(this.path, `${name}.pid`)
    beginRecord(record)
    this.#running.add(name)
    const end = () => {
      this.#running.delete(name)
      endRecord(record)
    }
    try {
      const log = await RunLog.open(join(this.path, `${name}.log`), this.#bounds.logBytes)
      return {
        log,
        started: (pid) => recordGroup(record, pid),
        over: async () => {
          try {
            end()
          } finally {
            await log.close()
          }
          this.#runs++
          this.#bytes += log.bytes
          await this.#tidy()
        },
      }
    } catch (error) {
      end()
      throw error
    }
  }

  /** Tidies the folder, once at a time. Calls during that do not wait for it. */
  async #tidy(): Promise<void> {
    const due =
      this.#runs >= TIDY_RUNS ||
      this.#bytes >= this.#bounds.folderBytes / TIDY_SHARE ||
      systemClock.read().mono - this.#tidiedMono >= TIDY_MS
    if (!due || this.#tidying !== undefined) return
    this.#runs = 0
    this.#bytes = 0
    this.#tidiedMono = systemClock.read().mono
    this.#tidying = tidy(this.path, this.#bounds, this.#running).finally(() => {
      this.#tidying = undefined
    })
    await this.#tidying
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { mode, uid } = statSync(path)
  // Records in the folder decide which processes are killed, so only this user may write there.
  if (uid !== process.getuid?.()) {
    throw new OptionTypeError('logFolder', `logFolder ${path} belongs to another user (${uid}): name a folder of this worker's own`)
  }
  if ((mode & 0o077) === 0) return
  throw new OptionTypeError(
    'logFolder',
    `logFolder ${path} can be entered by others (mode ${(mode & 0o777).toString(8)}), and output may be secret: chmod 700 it, or name a folder that does not exist yet`,
  )
}

/** All files of a run. */
interface KeptRun {
  readonly paths: string[]
  bytes: number
  /** The time when the last of them was written. */
  atMs: number
}

/** Removes runs that are too old, then the oldest until the rest is within its bounds. Keeps runs that have not ended. */
async function tidy(folder: string, { folderBytes, ageMs }: LogBounds, own: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder)
  const recorded = new Set(names.filter((name) => name.endsWith('.pid')).map((name) => name.slice(0, -4)))
  const kept = new Map<string, KeptRun>()
  for (const name of names) {
    const [, run] = LOG.exec(name) ?? []
    if (run === undefined || recorded.has(run) || own.has(run)) continue
    const path = join(folder, name)
    // Another worker of the folder may be tidying it too.
    const found = await stat(path).catch(() => undefined)
    if (found === undefined) continue
    const files = kept.get(run) ?? { paths: [], bytes: 0, atMs: 0 }
    files.paths.push(path)
    files.bytes += found.size
    files.atMs = Math.max(files.atMs, found.mtimeMs)
    kept.set(run, files)
  }
  const runs = [...kept.values()].sort((one, other) => other.atMs - one.atMs)
  const oldestMs = systemClock.read().wall - ageMs
  let bytes = 0
  for (const [index, files] of runs.entries()) {
    bytes += files.bytes
    if (files.atMs >= oldestMs && bytes <= folderBytes && index < RUNS_MAX) continue
    for (const path of files.paths) await rm(path, { force: true })
  }
}
