/** Notes now and then which jobs run, so that opening the file replays a short piece of the journal at most. */
import { LIMITS, type TurnMark } from '@millrace/core'
import type { Database } from '../driver.ts'
import { packRanges, rangesOf } from '../seqs.ts'

export interface WriteRunning {
  /** Also where the journal is to forget what is not noted yet. */
  write(turn: TurnMark, forgetEventsBefore: number): void
  /** The turn is committed. */
  committed(): void
}

export function prepareRunning(db: Database): WriteRunning {
  const noted = db.prepare('SELECT event FROM running').pluck()
  const note = db.prepare('UPDATE running SET event = ?, seqs = ?')
  let event = noted.get() as number
  let written = event
  return {
    write({ nextEvent, running }, forgetEventsBefore) {
      // What a turn that was not committed has written is not so.
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
