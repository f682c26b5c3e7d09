/** A schema that gets the content of another store. */
import { fingerprintOf } from '@millrace/core'
import { assertSameMove, type MovedNumbers, type MovedRow, type MovedTable, type MovePlace, type MoveTarget } from '@millrace/core/kernel'
import type { Statement, Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import { ownSchema } from '../open-store.ts'
import type { StoreOptions } from '../options.ts'
import { TAKE_PLACES } from '../tables/places.ts'
import { Batch } from '../write/batch.ts'
import { columnsOf, numbersOf, pageOf } from './end.ts'

const CREATE_MOVING = 'CREATE TABLE moving (source text NOT NULL, numbers text NOT NULL, place text NOT NULL, epoch bigint NOT NULL)'
/** Numbers the turns of a file, which have none, behind those that are there. */
const INSERT_TURNS = `INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed)
SELECT last.turn + row_number() OVER (ORDER BY copied.first_event), last.epoch, copied.at, copied.next_seq, copied.first_event + copied.count, copied.next_session,
  copied.first_event, copied.count, copied.bytes, copied.packed`
const LAST = '(SELECT turn, epoch FROM journal ORDER BY turn DESC LIMIT 1) AS last'
const LAST_TURN = `INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed)
SELECT turn + 1, epoch, at, $1::bigint, $2::bigint, $3::bigint, $2::bigint, 0, bytes, '' FROM journal ORDER BY turn DESC LIMIT 1`

/**
 * Opens a schema that no engine has, and creates it if there is none.
 *
 * @throws AlreadyOpenError, and the errors of `openStore`
 */
export function openMoveTarget(options: StoreOptions): MoveTarget {
  return ownSchema(options, 'target', (connection, { epoch }) => {
    const isMoving = () => connection.pluck<boolean>("SELECT to_regclass('moving') IS NOT NULL")[0] === true
    return {
      numbers: () => numbersOf(connection),
      page: (table, after, bound) => pageOf(connection, table, after, bound),
      get state() {
        if (isMoving()) return 'moving'
        const { nextEvent, nextSession } = numbersOf(connection)
        return nextEvent > 1 || nextSession > 1 ? 'used' : 'new'
      },
      begin: (source, numbers) => {
        if (isMoving()) return resume(connection, epoch, source, numbers)
        connection.transact([
          { text: CREATE_MOVING, values: [] },
          { text: 'INSERT INTO moving VALUES ($1, $2, $3, $4)', values: [source, JSON.stringify(numbers), 'null', epoch] },
          { text: 'DELETE FROM running', values: [] },
        ])
        return undefined
      },
      write: (table, rows, place) => {
        connection.transact([note(epoch, place), ...insertionsOf(table, rows)])
      },
      complete: ({ node, createdAt, paused, nextSeq, nextEvent, nextSession }) => {
        connection.transact([
          note(epoch, undefined),
          {
            text: 'UPDATE meta SET node = $1, created_at = $2, paused = $3',
            values: [node, createdAt, paused ? 1 : 0],
          },
          { text: LAST_TURN, values: [nextSeq, nextEvent, nextSession] },
          { text: 'DROP TABLE moving', values: [] },
        ])
      },
      close: () => connection.close(),
    }
  })
}

/** From now on no other process writes to the target: its epoch is not noted any more. */
function resume(connection: Connection, epoch: number, source: string, numbers: MovedNumbers): MovePlace | undefined {
  const noted = connection.get<[string, string, string]>('SELECT source, numbers, place FROM moving') as [string, string, string]
  const place = assertSameMove(noted, [source, numbers])
  connection.transact([{ text: 'UPDATE moving SET epoch = $1', values: [epoch] }])
  return place
}

/** The fence of every transaction: whoever resumes a move keeps those that came before it from writing. */
function note(epoch: number, place: MovePlace | undefined): Statement {
  const batch = new Batch()
  batch.change('the place of the move', 1, 'UPDATE moving SET place = $2 WHERE epoch = $1', epoch, JSON.stringify(place ?? null))
  return batch.statements[0] as Statement
}

function insertionsOf(table: MovedTable, rows: readonly MovedRow[]): Statement[] {
  const columns = columnsOf(table)
  const values = columns.map(({ place }, index): Value => rows.map((row) => cellOf(row[place] ?? null, index, table)))
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')
  const names = columns.map(({ name }) => name).join(', ')
  if (table.name === 'journal') {
    return [{ text: `${INSERT_TURNS} FROM unnest(${arrays}) AS copied (${names}), ${LAST}`, values }]
  }
  if (table.name === 'attempt') {
    const text = `INSERT INTO attempt (${names}, fingerprint) SELECT * FROM unnest(${arrays}, $${columns.length + 1}::bigint[])`
    return [{ text, values: [...values, fingerprintsOf(table, rows)] }]
  }
  const insert = { text: `INSERT INTO ${table.name} (${names}) SELECT * FROM unnest(${arrays})`, values }
  if (table.name !== 'job') return [insert]
  return [insert, { text: TAKE_PLACES, values: [rows.map((row) => row[table.columns.findIndex(({ name }) => name === 'seq')] as number)] }]
}

/** A payload stands in one of its two columns. */
function cellOf(value: Value, index: number, { columns }: MovedTable): Value {
  if (columns[index]?.type === 'payload' && value instanceof Uint8Array) return null
  if (index >= columns.length && !(value instanceof Uint8Array)) return null
  return value
}

/** The kinds of errors, which a file computes when it is asked. */
function fingerprintsOf({ columns }: MovedTable, rows: readonly MovedRow[]): Value {
  const [name, message] = ['error_name', 'error_message'].map((wanted) => columns.findIndex((column) => column.name === wanted))
  return rows.map((row) => {
    const error = { name: row[name as number] as string, message: row[message as number] as string }
    return error.name === '' ? null : fingerprintOf(error)
  })
}
