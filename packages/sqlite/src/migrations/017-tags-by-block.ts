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

const DOWN = `
ALTER TABLE tag RENAME TO tag_in_block;
CREATE TABLE tag (tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tag, seq)) STRICT, WITHOUT ROWID;
INSERT INTO tag (tag, seq) SELECT tag, seq FROM tag_in_block ORDER BY 1, 2;
DROP TABLE tag_in_block;`

export const tagsByBlock: Migration = { id: 17, name: 'tags-by-block', sql: SQL, down: DOWN, minReader: 17 }
