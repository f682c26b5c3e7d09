/** The turn's line in the journal and in the file's one row of facts: where a lost ownership is found out. */
import { type Effects, StoreFailure, type TurnMark } from '@millrace/core'
import type { Database } from '../driver.ts'
import { encodeEvents } from '../journal.ts'
import type { Claim } from '../open/claim.ts'
import { JOURNAL_ROW_BYTES } from './prune.ts'

export function prepareMark(db: Database, { epoch, node }: Claim): (effects: Effects, mark: TurnMark) => void {
  const meta = db.prepare(
    'UPDATE meta SET next_seq = ?, next_event = ?, next_session = ?, turn = turn + 1, journal_bytes = journal_bytes + ? WHERE epoch = ?',
  )
  const journal = db.prepare('INSERT INTO journal (first_event, at, count, packed) VALUES (?, ?, ?, ?)')
  return ({ events }, { at, nextSeq, nextEvent, nextSession }) => {
    const packed = events.length === 0 ? undefined : encodeEvents(events, at, node)
    const bytes = packed === undefined ? 0 : packed.length + JOURNAL_ROW_BYTES
    if (meta.run(nextSeq, nextEvent, nextSession, bytes, epoch).changes !== 1) {
      throw new StoreFailure('before', 'owner', 'another engine has taken the file over')
    }
    if (packed !== undefined) journal.run(nextEvent - events.length, at, events.length, packed)
  }
}
