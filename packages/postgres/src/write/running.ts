/** Notes now and then which jobs run, and folds the counters of lanes, so that opening the schema replays at most a short piece of the journal. */
import { LIMITS } from '@millrace/core'
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { assertTurnIsKept, packRanges, rangesOf } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import type { Batch } from './batch.ts'

/** The counters of lanes that stand in the journal alone, at most: a claim of the schema folds them. */
const COUNTERS_MAX = 5_000

export interface WriteRunning {
  /** Also writes if the journal is about to forget events that are not noted yet. Refuses to forget those of the turn itself. */
  write(batch: Batch, turn: TurnHeader, effects: Pick<Effects, 'events' | 'forgetEventsBefore' | 'countedLanes'>): void
  /** Called after the turn is committed. */
  committed(): void
}

export function prepareRunning(connection: Connection): WriteRunning {
  let event = connection.pluck<number>('SELECT event FROM running')[0] ?? 0
  let written = event
  let counters = 0
  let unfolded = counters
  return {
    write(batch, turn, effects) {
      assertTurnIsKept(turn, effects)
      const { nextEvent, running } = turn
      const { forgetEventsBefore, countedLanes } = effects
      // Discards what an uncommitted turn has written.
      written = event
      unfolded = counters + countedLanes.length
      const isShort = nextEvent - 1 - event < LIMITS.eventsPerSnapshot && unfolded < COUNTERS_MAX
      if (isShort && forgetEventsBefore <= event) return
      written = nextEvent - 1
      unfolded = 0
      batch.add('UPDATE running SET event = $1, seqs = $2', written, packRanges(rangesOf(running())))
      batch.add('SELECT fold_counters()')
    },
    committed() {
      event = written
      counters = unfolded
    },
  }
}
