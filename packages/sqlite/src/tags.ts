/**
 * Tags are stored by blocks of jobs with consecutive numbers, and within a block by tag. So the tags that a turn adds are on a
 * few pages, however many tags there are. Sorted by tag alone, each took a page: two tags of 1,000 took 10 µs per job instead of
 * 2. A search for a tag looks into each block, 1 µs a block (docs/decisions/0036).
 */
import type { Database } from './driver.ts'

const BLOCK_JOBS = 4_096
/** The most blocks that one statement looks into: nothing can interrupt it. */
const BLOCKS_PER_LOOK = 1_000

/** Returns the block of the job with that number. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_JOBS)
}

/** Returns the first number of a block. */
export function firstOf(block: number): number {
  return block * BLOCK_JOBS
}

export interface TagBlock {
  readonly block: number
  /** The number of blocks that were searched for it. */
  readonly asked: number
}

/**
 * Yields the blocks in which jobs behind that number have the tag, newest or oldest first. If 1,000 blocks in a row do not have it,
 * yields the last of them, so that the caller may stop there.
 */
export function prepareTagBlocks(db: Database, first: 'newest' | 'oldest'): (tag: string, seq: number) => Generator<TagBlock, void> {
  const [end, sign] = first === 'newest' ? ['max', '<'] : ['min', '>']
  const next = db
    .prepare(
      `WITH RECURSIVE hop (block, asked) AS (
  SELECT ${end}(tag.block), 1 FROM tag WHERE tag.block ${sign} ?
  UNION ALL
  SELECT (SELECT ${end}(tag.block) FROM tag WHERE tag.block ${sign} hop.block), hop.asked + 1 FROM hop
  WHERE hop.block IS NOT NULL AND hop.asked < ${BLOCKS_PER_LOOK}
    AND NOT EXISTS (SELECT 1 FROM tag WHERE tag.block = hop.block AND tag.tag = ?)
)
-- The block of the last hop: SQLite takes it from the row that has the most.
SELECT hop.block, max(hop.asked) FROM hop`,
    )
    .raw()
  return function* blocks(tag, seq) {
    for (let last = first === 'newest' ? Math.ceil(seq / BLOCK_JOBS) : blockOf(seq + 1) - 1; ; ) {
      const [block, asked] = next.get(last, tag) as [block: number | null, asked: number]
      if (block === null) return
      yield { block, asked }
      last = block
    }
  }
}
