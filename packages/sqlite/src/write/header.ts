/**
 * Writes the turn's line in the journal, which also holds the next numbers of rows, events and sessions: only turns without
 * events write the file's one row of facts. Detects lost ownership.
 */
import { type Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import { encodeEvents, JOURNAL_ROW_BYTES } from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Claim } from '../open/claim.ts'

export interface WriteHeader {
  write(effects: Effects, header: TurnHeader): void
  /** Called after the turn is committed. */
  committed(): void
}

/** Returns a function that throws if another engine has taken the file over: the first step of every transaction. */
export function prepareOwned(db: Database, { epoch }: Claim): () => void {
  const owned = db.prepare('SELECT 1 FROM meta WHERE epoch = ?').pluck()
  return () => {
    if (owned.get(epoch) === undefined) throw new StoreFailure('before', 'owner', 'another engine has taken the file over')
  }
}

export function prepareHeader(db: Database, claim: Claim): WriteHeader {
  const { node } = claim
  const assertOwned = prepareOwned(db, claim)
  const meta = db.prepare('UPDATE meta SET next_seq = ?, next_event = ?, next_session = ?')
  const journal = db.prepare(
    'INSERT INTO journal (first_event, at, count, packed, next_seq, next_session, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const last = db.prepare('SELECT bytes FROM journal WHERE first_event = (SELECT max(first_event) FROM journal)').pluck()
  let bytes = (last.get() as number | undefined) ?? 0
  let written = bytes
  return {
    write({ events }, { at, nextSeq, nextEvent, nextSession }) {
      assertOwned()
      // Discards what an uncommitted turn has written.
      written = bytes
      if (events.length === 0) {
        meta.run(nextSeq, nextEvent, nextSession)
        return
      }
      const packed = encodeEvents(events, at, node)
      written += packed.length + JOURNAL_ROW_BYTES
      journal.run(nextEvent - events.length, at, events.length, packed, nextSeq, nextSession, written)
    },
    committed() {
      bytes = written
    },
  }
}
