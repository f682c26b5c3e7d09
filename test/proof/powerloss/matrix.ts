/** Short runs in which the storage fails once or for good, or the process ends, at a chosen operation; and what is to be true then. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { seededRandom } from '@millrace/testkit/internal'
import { auditOf, jobsOf } from './contents.ts'
import { Disk, type Loss } from './disk.ts'
import { Driver, KEPT_MS } from './driver.ts'
import { Workbench } from './examine.ts'
import { type Extension, type Instructions, instruct } from './extension.ts'
import { judge } from './ledger.ts'
import { DATABASE, OPENING } from './recording.ts'
import { callsOf, latest, Marker, type Operation, readTrace } from './trace.ts'
import { work } from './workload.ts'

const STEPS = 14

export interface ShortRun {
  /** Empty, or to be emptied. */
  readonly folder: string
  readonly seed: number
  readonly instructions: Instructions
}

/** Works until it is done, or the engine has ended, or could not even be opened. Leaves the trace in the folder. */
export async function shortRun(extension: Extension, { folder, seed, instructions }: ShortRun): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const trace = join(folder, 'trace')
  const marker = new Marker(trace)
  // From before the file is there: its creation is a part of what may fail.
  instruct(extension, { ...instructions, trace })
  const clock = new VirtualClock()
  try {
    const store = openStore({ ...OPENING, file: join(folder, DATABASE), durability: 'full' })
    const driver = new Driver({ store, clock, mark: marker.mark })
    await work({ driver, clock, seed, steps: STEPS, checkpoint: store.care.foldWal })
    await driver.close()
  } catch (error) {
    marker.mark({ ended: String(error) })
  } finally {
    instruct(extension, {})
    marker.close()
  }
}

export function traceOf(folder: string): Operation[] {
  return readTrace(readFileSync(join(folder, 'trace')))
}

/** Opens what the run has left in its folder, and judges it by what was answered. */
export async function judgeLeft(folder: string, operations: readonly Operation[]): Promise<string[]> {
  return judgeFile(new Workbench(folder), operations)
}

async function judgeFile(bench: Workbench, operations: readonly Operation[]): Promise<string[]> {
  const calls = callsOf(operations)
  const now = latest(operations)
  const { problems } = await bench.open((db) => [...auditOf(db), ...judge(calls, jobsOf(db), { keptMs: KEPT_MS, now })])
  return problems
}

/** The same, were the power to fail right after the first failure was answered, and at the end of all. */
export async function judgeOutages(
  folder: string,
  operations: readonly Operation[],
  seed: number,
): Promise<{ images: number; problems: string[] }> {
  mkdirSync(folder, { recursive: true })
  const bench = new Workbench(folder)
  const failed = operations.findIndex(({ kind }) => kind === 'failed')
  const cuts = new Set([answeredAfter(operations, failed), operations.length])
  const disk = new Disk()
  const problems: string[] = []
  let images = 0
  for (let cut = 0; cut <= operations.length; cut++) {
    const losses: Loss[] = [{ kind: 'all' }, { kind: 'none' }, { kind: 'sectors', random: seededRandom(seed) }]
    if (cuts.has(cut)) {
      for (const loss of losses) {
        images++
        bench.put(disk.image(loss))
        const found = await judgeFile(bench, operations.slice(0, cut))
        problems.push(...found.map((problem) => `after an outage (${loss.kind} at ${cut}): ${problem}`))
      }
    }
    const next = operations[cut]
    if (next !== undefined) disk.apply(next)
  }
  return { images, problems }
}

function answeredAfter(operations: readonly Operation[], from: number): number {
  const index = operations.findIndex((operation, at) => at > from && operation.kind === 'mark' && 'answered' in operation.mark)
  return index < 0 ? operations.length : index + 1
}

/** Whoever waited for a turn whose COMMIT could not be synced was told that nobody knows. */
export function syncProblems(operations: readonly Operation[]): { doubts: number; problems: string[] } {
  const problems: string[] = []
  let doubts = 0
  let writing = false
  let failed = false
  let waiting = 0
  for (const operation of operations) {
    if (operation.kind === 'failed' && operation.what === 'sync') failed = writing
    if (operation.kind !== 'mark') continue
    const { mark } = operation
    if ('begin' in mark) {
      if (waiting > 0) problems.push(`turn ${mark.begin} began while ${waiting} calls had not been told of the sync that failed`)
      writing = true
      failed = false
    } else if ('end' in mark) {
      writing = false
      if (!failed) continue
      doubts++
      waiting = mark.waiting
      if (mark.failure?.startsWith('commit') !== true)
        problems.push(`turn ${mark.end}, whose sync failed, ended as ${mark.failure ?? 'written'}`)
    } else if ('answered' in mark && mark.answered !== 0 && waiting > 0) {
      waiting--
      if (mark.call.outcome !== 'unknown') problems.push(`a ${mark.call.op} whose sync failed was answered ${mark.call.code ?? 'ok'}`)
    }
  }
  return { doubts, problems }
}
