/** Notes now and then which jobs run, so that opening the file replays at most a short piece of the journal. */
import { LIMITS } from '@millrace/core'
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { assertTurnIsKept, packRanges, rangesOf } from '@millrace/sql'
import type { Database } from '../driver.ts'

export interface WriteRunning {
  /** The last event before the note. */
  event: number
  /** Also writes if the journal is about to forget events that are not noted yet. Refuses to forget those of the turn itself. */
  write(turn: TurnHeader, effects: Pick<Effects, 'events' | 'forgetEventsBefore'>): void
  /** Called after the turn is committed. */
  committed(): void
}

export function prepareRunning(db: Database): WriteRunning {
  const noted = db.prepare('SELECT event FROM running').pluck()
  const note = db.prepare('UPDATE running SET event = ?, seqs = ?')
  let written = noted.get() as number
  return {
    event: written,
    write(turn, effects) {
      assertTurnIsKept(turn, effects)
      const { nextEvent, running } = turn
      const { event } = this
      const { forgetEventsBefore } = effects
      // Discards what an uncommitted turn has written.
      written = event
      if (nextEvent - 1 - event < LIMITS.eventsPerSnapshot && forgetEventsBefore <= event) return
      written = nextEvent - 1
      note.run(written, packRanges(rangesOf(running())))
    },
    committed() {
      this.event = written
    },
  }
}
