/**
 * Finds finished and running jobs without an index on the job. Each index cost every job two changes to it: at full load with
 * pruning, a third of the writer's time in SQLite. One row per turn lists the jobs that finished in it, as runs of row numbers.
 * One row for the file lists the jobs that ran at some event, and the journal has the later starts. See docs/decisions/0005. A
 * turn's changes to the file's one row of facts go with its line in the journal: one page less per turn.
 */
import type { Database } from '../driver.ts'
import { packRanges, rangesOf } from '../seqs.ts'
import type { Migration } from './migration.ts'

const SQL = `
DROP INDEX job_finished;
DROP INDEX job_active;
CREATE INDEX job_failed ON job (lane, finished_at) WHERE state = 5;
-- A hint: a job that was brought back or deleted since has another state, another finished_at, or no row.
CREATE TABLE finished (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  at INTEGER NOT NULL, seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane)
) STRICT, WITHOUT ROWID;
CREATE TABLE running (
  one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, seqs BLOB NOT NULL
) STRICT;
-- As in meta, after the turn: the larger of both is so.
ALTER TABLE journal ADD COLUMN next_seq INTEGER NOT NULL DEFAULT 1;
ALTER TABLE journal ADD COLUMN next_session INTEGER NOT NULL DEFAULT 1;
-- Bytes of all rows up to this one, those that are gone included.
ALTER TABLE journal ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE journal SET bytes = summed.bytes
FROM (SELECT first_event AS event, sum(length(packed) + 24) OVER (ORDER BY first_event) AS bytes FROM journal) AS summed
WHERE summed.event = journal.first_event;
ALTER TABLE meta DROP COLUMN journal_bytes;
ALTER TABLE meta DROP COLUMN turn;`

type Finished = [queue: number, state: number, lane: number, at: number, seqs: string]

/** The turns of jobs that finished earlier are unknown: each moment gets one turn, numbered below all turns that follow. */
function fill(db: Database): void {
  const finished = db
    .prepare(
      `SELECT lane.queue, job.state, job.lane, job.finished_at, json_group_array(job.seq) FROM job JOIN lane ON lane.id = job.lane
WHERE job.state >= 4 GROUP BY 1, 2, 4, 3 ORDER BY 1, 2, 4, 3`,
    )
    .raw()
  const insert = db.prepare('INSERT INTO finished (queue, state, turn, lane, at, seqs) VALUES (?, ?, ?, ?, ?, ?)')
  const rows = finished.all() as Finished[]
  for (const [index, [queue, state, lane, at, seqs]] of rows.entries()) {
    insert.run(queue, state, index - rows.length, lane, at, packRanges(rangesOf(JSON.parse(seqs))))
  }
  const running = db.prepare('SELECT seq FROM job WHERE state = 2').pluck().all() as number[]
  db.prepare('INSERT INTO running SELECT 1, next_event - 1, ? FROM meta').run(packRanges(rangesOf(running)))
}

export const batches: Migration = { id: 2, name: 'batches', sql: SQL, fill, minReader: 2 }
