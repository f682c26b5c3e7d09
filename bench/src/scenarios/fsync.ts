/** What one sync costs on this disk: a page appended to a file of its own, and synced. A durable answer cannot be sooner. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import type { Scenario } from '../measurement.ts'
import { quantile } from '../quantile.ts'

const PAGE = Buffer.alloc(4_096, 1)

export const fsync: Scenario = async ({ file, jobs }) => {
  const descriptor = openSync(`${file}.sync`, 'w')
  const micros: number[] = []
  for (let write = 0; write < jobs; write++) {
    const beginMs = performance.now()
    writeSync(descriptor, PAGE)
    fdatasyncSync(descriptor)
    micros.push((performance.now() - beginMs) * 1_000)
  }
  closeSync(descriptor)
  return { p50Micros: quantile(micros, 0.5), p99Micros: quantile(micros, 0.99) }
}
