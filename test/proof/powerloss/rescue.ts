/**
 * Files are taken away from a running engine, and the power fails while it saves what they had, or later. From its refusal on, all that was
 * answered is in the database or in the saved copy. Before, it may be lost with the log; but a copy that has its name is whole.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { seededRandom } from '@millrace/testkit/internal'
import { indexFile, walFile } from '../../../packages/sqlite/src/companionFiles.ts'
import { openDatabase } from '../../../packages/sqlite/src/driver.ts'
import { auditOf, brokenPages, jobsOf, look } from './contents.ts'
import { Disk, type DiskOptions, type Image, nameOf } from './disk.ts'
import { Driver, KEPT_MS } from './driver.ts'
import { Workbench } from './examine.ts'
import { type Extension, instruct } from './extension.ts'
import { type Call, type Found, judge } from './ledger.ts'
import { noteOwn } from './ownFiles.ts'
import { DATABASE, OPENING } from './recording.ts'
import { callsOf, latest, Marker, type Operation } from './trace.ts'
import { work } from './workload.ts'

const STEPS = 14
/** Turns that the engine may go on with before it notices. */
const PATIENCE = 5
const BACKUP = 'backup.db'
const BACKUP_ONLY = 'none, but a backup is made'
const SAVED = new RegExp(`^${DATABASE}\\.saved-\\d+$|^${BACKUP}$`)

const remove = (...files: readonly string[]): void => files.forEach((file) => void rmSync(file))

const PARTLY = 'another program folds a part of the log in, and deletes it'

/** What is done to the files. A connection that folds the log in is closed before the log is deleted, as that of another library is. */
const HARMS = {
  'the log is deleted': async (file) => remove(walFile(file)),
  'the log and its index are deleted': async (file) => remove(walFile(file), indexFile(file)),
  'the database is deleted, with its log': async (file) => remove(file, walFile(file), indexFile(file)),
  'the database is deleted': async (file) => remove(file),
  'the database is moved away': async (file) => renameSync(file, `${file}.moved`),
  'another program folds the log in, and deletes it': async (file) => {
    fold(file)
    remove(walFile(file), indexFile(file))
  },
  [PARTLY]: async (file, driver) => {
    const reader = openDatabase(file, { readonly: true })
    reader.exec('BEGIN; SELECT count(*) FROM job')
    await driver.post([driver.enqueue([{ bytes: 400, job: {} }])])
    fold(file)
    reader.close()
    remove(walFile(file), indexFile(file))
  },
} as const satisfies Record<string, (file: string, driver: Driver) => Promise<void>>

export type Harm = keyof typeof HARMS | typeof BACKUP_ONLY
export const ALL_HARMS = [...Object.keys(HARMS), BACKUP_ONLY] as readonly Harm[]

export function isHarm(text: string): text is Harm {
  return (ALL_HARMS as readonly string[]).includes(text)
}

function fold(file: string): void {
  const other = openDatabase(file)
  other.pragma('wal_checkpoint(PASSIVE)')
  other.close()
}

export interface RescueRun {
  readonly folder: string
  readonly seed: number
  readonly harm: Harm
}

export async function recordRescue(extension: Extension, { folder, seed, harm }: RescueRun): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const trace = join(folder, 'trace')
  const marker = new Marker(trace)
  instruct(extension, { trace })
  const clock = new VirtualClock()
  const options = { ...OPENING, file: join(folder, DATABASE), durability: 'full' } as const
  const store = openStore(options)
  const driver = new Driver({ store, clock, mark: marker.mark })
  await work({ driver, clock, seed, steps: STEPS, checkpoint: store.care.foldWal })
  await driver.post([driver.enqueue([{ bytes: 400, job: {} }])])
  noteOwn(folder, marker.mark)
  try {
    if (harm === BACKUP_ONLY) {
      marker.mark({ rescue: 'harmed' })
      await store.care.backup(join(folder, BACKUP))
    } else {
      await HARMS[harm](options.file, driver)
      marker.mark({ rescue: 'harmed' })
      await noticed(driver, clock)
    }
    marker.mark({ rescue: 'done' })
    await driver.close()
    if (driver.ended?.message.includes('Open the engine again') === true) {
      const again = openStore(options)
      const next = new Driver({ store: again, clock, mark: marker.mark, before: driver })
      await work({ driver: next, clock, seed: seed + 1, steps: STEPS / 2, checkpoint: again.care.foldWal })
      await next.close()
    }
  } finally {
    instruct(extension, {})
    marker.close()
  }
}

async function noticed(driver: Driver, clock: VirtualClock): Promise<void> {
  for (let turn = 0; turn < PATIENCE && driver.ended === undefined; turn++) {
    await driver.post([driver.enqueue([{ bytes: 40, job: {} }])])
    await clock.advance('1s')
  }
  if (driver.ended?.code !== 'OWNER_LOST') throw new Error(`the engine did not notice: ${driver.ended?.code}`)
}

export interface RescueOptions extends RescueRun, DiskOptions {
  /** The number of further places where the power fails before the refusal, and after it. */
  readonly cutsMax?: number
  /** Leaves out what must not be left out, for the proof that it would be seen. */
  readonly without?: (operation: Operation) => boolean
}

export interface Rescued {
  readonly images: number
  readonly problems: readonly string[]
}

export async function judgeRescue(recorded: readonly Operation[], given: RescueOptions): Promise<Rescued> {
  const { folder, seed, harm, without, cutsMax, ...options } = given
  mkdirSync(folder, { recursive: true })
  const operations = recorded.filter((operation) => without?.(operation) !== true)
  const bench = new Workbench(folder)
  const disk = new Disk(options)
  const now = latest(operations)
  const problems: string[] = []
  let images = 0
  const places = cutsOf(operations, cutsMax)
  let phase: 'before' | 'harmed' | 'done' = 'before'
  for (let cut = 0; cut <= operations.length; cut++) {
    const next = operations[cut]
    if (places.has(cut)) {
      const calls = callsOf(operations.slice(0, cut))
      for (const loss of disk.losses(seededRandom(seed * 1_000_003 + cut))) {
        images++
        const image = new Map(disk.image(loss))
        if (harm === BACKUP_ONLY) image.delete(DATABASE)
        const found = await judgeImage(bench, image, { calls, now, isDone: phase === 'done', mayBreak: harm === PARTLY })
        problems.push(...found.map((problem) => `${nameOf(loss)} at ${cut}, ${phase}: ${problem}`))
      }
    }
    if (next === undefined) break
    disk.apply(next)
    if (next.kind === 'mark' && 'rescue' in next.mark) phase = next.mark.rescue
  }
  return { images, problems }
}

/** At every sync and change of a name, and else at so many places before the refusal and after it. */
function cutsOf(operations: readonly Operation[], most = Number.POSITIVE_INFINITY): ReadonlySet<number> {
  const phaseAt = (phase: string) => operations.findIndex((one) => one.kind === 'mark' && 'rescue' in one.mark && one.mark.rescue === phase)
  const [harmed, done] = [phaseAt('harmed'), phaseAt('done')]
  const cuts = [...operations.keys(), operations.length].slice(harmed + 1).filter((cut) => operations[cut]?.kind !== 'mark')
  const spread = (some: readonly number[]) => some.filter((_, at) => at % Math.max(1, Math.ceil(some.length / most)) === 0)
  const isTurningPoint = (cut: number) => cut <= done + 1 && operations[cut]?.kind !== 'write'
  return new Set([
    ...cuts.filter(isTurningPoint),
    ...spread(cuts.filter((cut) => cut <= done)),
    ...spread(cuts.filter((cut) => cut > done)),
  ])
}

interface Judging {
  readonly calls: readonly Call[]
  readonly now: number
  readonly isDone: boolean
  /** True if a part of the log is in the database, and the log itself is gone: only the copy is whole. */
  readonly mayBreak: boolean
}

async function judgeImage(bench: Workbench, image: Image, { calls, now, isDone, mayBreak }: Judging): Promise<string[]> {
  bench.put(image)
  const broken: string[] = []
  /** What is missing in each of the files. */
  const missing: (readonly string[])[] = []
  const weigh = (found: Found[]) => void missing.push(judge(calls, found, { keptMs: KEPT_MS, now }))
  for (const name of [...image.keys()].filter((one) => SAVED.test(one))) {
    try {
      const copy = look(join(bench.file, '..', name))
      try {
        broken.push(...[...brokenPages(copy), ...auditOf(copy)].map((problem) => `${name}: ${problem}`))
        weigh(jobsOf(copy))
      } finally {
        copy.close()
      }
    } catch (error) {
      broken.push(`${name} does not open: ${String(error)}`)
    }
  }
  if (image.has(DATABASE)) {
    const { problems } = await bench.open((db) => {
      weigh(jobsOf(db))
      return auditOf(db)
    })
    if (!mayBreak) broken.push(...problems)
  }
  if (!isDone || missing.some((problems) => problems.length === 0)) return broken
  return [...broken, ...(missing.length === 0 ? ['nothing is there'] : missing.map((problems) => problems.slice(0, 2).join('; ')))]
}
