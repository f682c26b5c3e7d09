/** A file that gets the content of another store. */
import { assertSameMove, type MovedRow, type MovedTable, type MovePlace, type MoveTarget } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { APPLICATION_ID, MOVING_ID } from '../open/identify.ts'
import { ownFile } from '../open-store.ts'
import type { StoreOptions } from '../options.ts'
import { moveEnd, translated } from './end.ts'
import { computedOf, movedTables } from './tables.ts'

type Noted = [source: string, numbers: string, place: string]

/**
 * Opens a file that nobody has open, and creates it if there is none.
 *
 * @throws AlreadyOpenError, and the errors of `openStore`
 */
export function openMoveTarget(options: StoreOptions): MoveTarget {
  const { db, release } = ownFile(options, 'target')
  const end = moveEnd(db, release)
  const isMoving = () => db.pragma('application_id', { simple: true }) === MOVING_ID
  const target: MoveTarget = {
    ...end,
    get state() {
      if (isMoving()) return 'moving'
      const { nextEvent, nextSession } = end.numbers()
      return nextEvent > 1 || nextSession > 1 ? 'used' : 'new'
    },
    begin: (source, numbers) =>
      db
        .transaction(() => {
          if (isMoving()) {
            const noted = db.prepare('SELECT source, numbers, place FROM moving').raw().get() as Noted
            return assertSameMove(noted, [source, numbers])
          }
          for (const { name } of movedTables().toReversed()) db.exec(`DELETE FROM ${name}`)
          db.exec('CREATE TABLE moving (source TEXT NOT NULL, numbers TEXT NOT NULL, place TEXT NOT NULL) STRICT')
          db.prepare('INSERT INTO moving VALUES (?, ?, ?)').run(source, JSON.stringify(numbers), 'null')
          db.pragma(`application_id = ${MOVING_ID}`)
          return undefined
        })
        .immediate(),
    write: (table, rows, place) => write(db, table, rows, place),
    complete: ({ node, createdAt, paused, nextSeq, nextEvent, nextSession }) => {
      db.transaction(() => {
        db.prepare('UPDATE meta SET node = ?, created_at = ?, paused = ?, next_seq = ?, next_event = ?, next_session = ?').run(
          node,
          createdAt,
          paused ? 1 : 0,
          nextSeq,
          nextEvent,
          nextSession,
        )
        db.exec('DROP TABLE moving')
        db.pragma(`application_id = ${APPLICATION_ID}`)
      }).immediate()
    },
  }
  return translated(target, options.file)
}

function write(db: Database, { name, columns }: MovedTable, rows: readonly MovedRow[], place: MovePlace): void {
  const computed = computedOf(name)
  const names = [...columns, ...computed].map((column) => column.name)
  const insert = db.prepare(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
  db.transaction(() => {
    for (const row of rows) {
      const cell = (column: string) => row[names.indexOf(column)] as number
      insert.run(...row, ...computed.map(({ compute }) => compute(cell)))
    }
    db.prepare('UPDATE moving SET place = ?').run(JSON.stringify(place))
  }).immediate()
}
