/** Takes short runs with faults, one line of JSON in and one out for each: what was found, and how much was looked at. */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fault } from '../extension.ts'
import { judgeLeft, judgeOutages, shortRun, syncProblems, traceOf } from '../matrix.ts'

export interface FaultOrder {
  readonly seed: number
  /** None for a run that goes well, to count its operations by. */
  readonly fault?: Fault
}

export interface FaultResult {
  /** Writes, syncs and truncates of the run. */
  readonly counts: Readonly<Record<Fault['fail'], number>>
  /** Whether the fault was met. */
  readonly met: boolean
  /** Turns whose commit was in doubt for a sync that failed. */
  readonly doubts: number
  readonly images: number
  readonly problems: readonly string[]
}

const [extension, folder] = process.argv.slice(2) as [string, string]

for await (const line of createInterface({ input: process.stdin })) {
  const { seed, fault } = JSON.parse(line) as FaultOrder
  const run = join(folder, 'run')
  await shortRun({ path: extension }, { folder: run, seed, instructions: fault === undefined ? {} : { fault } })
  const operations = traceOf(run)
  const { doubts, problems } = syncProblems(operations)
  const left = await judgeLeft(run, operations)
  const outages = await judgeOutages(join(folder, 'image'), operations, seed)
  const count = (kind: string) => operations.filter((operation) => operation.kind === kind).length
  const result: FaultResult = {
    counts: { write: count('write'), sync: count('sync'), truncate: count('truncate') },
    met: count('failed') > 0,
    doubts,
    images: outages.images + 1,
    problems: [...problems, ...left, ...outages.problems],
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
