/** Many jobs through one engine: its memory does not grow with what it has done. */
import { join } from 'node:path'
import type { Stats } from '@millrace/engine'
import { auditFile } from '../../../../packages/sqlite/src/testing/inspect.ts'
import { Child } from '../child.ts'
import { growthOfSecondHalf, type MemoryReport } from '../memory.ts'
import { type Scenario, Tally } from '../scenario.ts'

const SOAK = new URL('../programs/soak.ts', import.meta.url)
/**
 * What the line through the second half may rise by: heaps of young objects swing by 25 MiB between two collections. Over a million
 * jobs that is 80 bytes a job.
 */
const GROWTH_MIB = 40

/** Of the file: five seconds of jobs come before the next look for old ones, and their pages are used again. */
const FILE_GROWTH_MIB = 16

interface Soaked {
  readonly enqueued: number
  readonly runs: number
  readonly totals: Stats['totals']
  readonly reloads: number
  readonly memory: MemoryReport
  /** The file's size, by the way. */
  readonly fileMib: readonly number[]
}

export const soak: Scenario = async ({ folder, soakJobs }) => {
  const tally = new Tally()
  const file = join(folder, 'jobs.db')
  const began = performance.now()
  await using child = new Child(SOAK, [file, String(soakJobs)])
  const { code, stderr } = await child.ended
  const soaked = child.value<Soaked>('soak')
  tally.expect(code === 0 && soaked !== undefined, 'soak', `ended with ${code}: ${stderr}`)
  if (soaked === undefined) return tally
  const { enqueued, runs, totals, reloads, memory, fileMib } = soaked
  tally.acknowledged = enqueued
  tally.lost = enqueued - totals.completed
  tally.expect(totals.enqueued === enqueued && totals.completed === enqueued, '1, 2', `of ${enqueued}: ${JSON.stringify(totals)}`)
  tally.expect(runs === enqueued, '9', `${enqueued} jobs took ${runs} runs`)
  tally.expect(reloads === 0, 'soak', `the tables were loaded anew ${reloads} times`)
  const outside = growthOfSecondHalf(memory.samples, ({ outsideMib }) => outsideMib)
  const rss = growthOfSecondHalf(memory.samples, ({ rssMib }) => rssMib)
  const writerHeap = growthOfSecondHalf(memory.samples, ({ writerHeapMib }) => writerHeapMib)
  const heap = growthOfSecondHalf(memory.samples, ({ heapMib }) => heapMib)
  // On a busy machine V8 collects later and gives its heaps more room than they use, so what they use is held to the bound and not their room.
  tally.expect(
    outside <= GROWTH_MIB,
    'flat memory',
    `the process has grown by ${outside.toFixed(1)} MiB beside its heaps in the second half`,
  )
  tally.expect(writerHeap <= GROWTH_MIB, 'flat memory', `the writer's heap has grown by ${writerHeap.toFixed(1)} MiB in the second half`)
  tally.expect(heap <= GROWTH_MIB, 'flat memory', `the caller's heap has grown by ${heap.toFixed(1)} MiB in the second half`)
  const half = Math.floor(fileMib.length / 2)
  const grown = Math.max(...fileMib.slice(half)) - Math.max(...fileMib.slice(0, half))
  tally.expect(grown <= FILE_GROWTH_MIB, 'bounded file', `the file has grown by ${grown.toFixed(1)} MiB in the second half`)
  for (const problem of auditFile(file).problems) tally.violations.push(`7: ${problem}`)
  tally.cycles++
  const seconds = (performance.now() - began) / 1_000
  tally.facts.push(
    `${enqueued} jobs in ${seconds.toFixed(1)} s`,
    `second half: process ${signed(rss)}, writer heap ${signed(writerHeap)}, caller heap ${signed(heap)}, beside them ${signed(outside)} MiB`,
    `file ${Math.max(...fileMib).toFixed(1)} MiB at most, second half ${signed(grown)} MiB`,
    `peak ${Math.round(memory.peakMib)} MiB`,
  )
  return tally
}

function signed(mebibytes: number): string {
  return `${mebibytes < 0 ? '' : '+'}${mebibytes.toFixed(1)}`
}
