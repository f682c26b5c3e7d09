/** Writes the turn's row in the journal, which is the fence, and has its events, the next numbers, and the counters of the lanes it has touched. */
import type { Effects, Lane, TurnHeader } from '@millrace/core/kernel'
import { COUNTERS, countersOf, encodeEvents, JOURNAL_ROW_BYTES } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import type { Claim } from '../open/claim.ts'
import type { Batch } from './batch.ts'

export interface WriteHeader {
  /** Returns the number of the turn that is written next. */
  next(): number
  write(batch: Batch, effects: Effects, header: TurnHeader): void
  /** Called after the turn is committed. */
  committed(): void
}

/** @param turn the last one of this epoch */
export function prepareHeader(connection: Connection, { epoch, node }: Claim, turn: number): WriteHeader {
  let last = turn
  let bytes = connection.pluck<number>('SELECT bytes FROM journal WHERE turn = $1', turn)[0] ?? 0
  let written = bytes
  return {
    next: () => last + 1,
    write(batch, { events, countedLanes }, { at, nextSeq, nextEvent, nextSession }) {
      const packed = events.length === 0 ? new Uint8Array() : new Uint8Array(encodeEvents(events, at, node))
      // Discards what an uncommitted turn has written.
      written = bytes + (events.length === 0 ? 0 : packed.length + JOURNAL_ROW_BYTES)
      const first = nextEvent - events.length
      batch.add(
        'SELECT take_turn($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
        ...[last + 1, epoch, at, nextSeq, nextEvent, nextSession, first, events.length, written, packed, counted(countedLanes)],
      )
    },
    committed() {
      last += 1
      bytes = written
    },
  }
}

/** The ids of the lanes, then the first counter of each, and so on. */
function counted(lanes: readonly Lane[]): Value {
  const rows = lanes.map(countersOf)
  return [...lanes.map(({ id }) => id), ...COUNTERS.flatMap((_name, place) => rows.map((row) => row[place] as number))]
}
