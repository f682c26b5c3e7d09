/** Notes now and then which jobs run, so that opening the file replays at most a short piece of the journal. */

import { LIMITS } from '@millrace/core'
import { type Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import { packRanges, rangesOf } from '@millrace/sql'
import type { Database } from '../driver.ts'

export interface WriteRunning {
  /** Also writes if the journal is about to forget events that are not noted yet. Refuses to forget those of the turn itself. */
  write(turn: TurnHeader, effects: Pick<Effects, 'events' | 'forgetEventsBefore'>): void
  /** Called after the turn is committed. */
  committed(): void
}

export function prepareRunning(db: Database): WriteRunning {
  const noted = db.prepare('SELECT event FROM running').pluck()
  const note = db.prepare('UPDATE running SET event = ?, seqs = ?')
  let event = noted.get() as number
  let written = event
  return {
    write({ nextEvent, running }, { events, forgetEventsBefore }) {
      // Their row holds the next numbers: without it, opening the file would give out the old ones again.
      if (forgetEventsBefore >= nextEvent - events.length)
        throw new StoreFailure(
          'broken',
          'statement',
          `the journal cannot forget up to event ${forgetEventsBefore}: the turn has written it`,
        )
      // Discards what an uncommitted turn has written.
      written = event
      if (nextEvent - 1 - event < LIMITS.eventsPerSnapshot && forgetEventsBefore <= event) return
      written = nextEvent - 1
      note.run(written, packRanges(rangesOf(running())))
    },
    committed() {
      event = written
    },
  }
}
