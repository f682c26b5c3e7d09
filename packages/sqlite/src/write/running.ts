/** Notes now and then which jobs run, so that opening the file replays at most a short piece of the journal. */
import { LIMITS } from '@millrace/core'
import type { TurnHeader } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { packRanges, rangesOf } from '../seqs.ts'

export interface WriteRunning {
  /** Also writes if the journal is about to forget events that are not noted yet. */
  write(turn: TurnHeader, forgetEventsBefore: number): void
  /** Called after the turn is committed. */
  committed(): void
}

export function prepareRunning(db: Database): WriteRunning {
  const noted = db.prepare('SELECT event FROM running').pluck()
  const note = db.prepare('UPDATE running SET event = ?, seqs = ?')
  let event = noted.get() as number
  let written = event
  return {
    write({ nextEvent, running }, forgetEventsBefore) {
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
