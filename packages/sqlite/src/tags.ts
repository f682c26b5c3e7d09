/**
 * Tags stand by blocks of jobs whose numbers follow one another, and in a block by tag: what a turn adds is on a few pages, however many
 * tags there are. By tag alone it was a page for each; two tags of 1,000 took 10 µs per job in place of 2. Who looks for a tag asks
 * each block, 2 to 4 µs a block (docs/decisions/0036).
 */
import type { Database } from './driver.ts'

const BLOCK_JOBS = 4_096

/** Of the job with that number. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_JOBS)
}

/** The first number of a block. */
export function firstOf(block: number): number {
  return block * BLOCK_JOBS
}

/** The blocks in which jobs before that one have any tag, newest first. */
export function prepareTagBlocks(db: Database): (before: number) => Generator<number, void> {
  const older = db.prepare('SELECT max(block) FROM tag WHERE block < ?').pluck()
  return function* blocks(before) {
    for (let last = Math.ceil(before / BLOCK_JOBS); ; ) {
      const block = older.get(last) as number | null
      if (block === null) return
      yield block
      last = block
    }
  }
}
