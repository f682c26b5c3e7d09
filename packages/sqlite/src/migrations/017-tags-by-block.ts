/**
 * Stores tags by blocks of 4,096 jobs, so that a turn's new tags are on a few pages instead of one page per tag. A version
 * without this migration would write no blocks.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE tag_in_block (
  block INTEGER NOT NULL CHECK (block = seq >> 12), tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, tag, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO tag_in_block (block, tag, seq) SELECT seq >> 12, tag, seq FROM tag ORDER BY 1, 2, 3;
DROP TABLE tag;
ALTER TABLE tag_in_block RENAME TO tag;`

export const tagsByBlock: Migration = { id: 17, name: 'tags-by-block', sql: SQL, minReader: 17 }
