/** A schema whose content is moved to another store. */
import type { MoveSource } from '@millrace/core/kernel'
import { closeInbox } from '../inbox/closed.ts'
import { ownSchema } from '../open-store.ts'
import type { StoreOptions } from '../options.ts'
import { numbersOf, pageOf } from './end.ts'

/** The fence, as of any turn: fails if another engine has had the schema since it was claimed. */
const LAST_TURN = `SELECT take_turn(turn + 1, $1, at, next_seq, next_event, next_session, next_event, 0, bytes, '', '{}')
FROM (SELECT * FROM journal ORDER BY turn DESC LIMIT 1) AS last`

/**
 * Opens a schema that no engine has. From then on, until an engine opens it, `enqueue()` refuses jobs.
 *
 * @throws AlreadyOpenError, NotADatabaseError, and the errors of `openStore`; MoveRefusedError if a transaction that has enqueued jobs is open
 */
export function openMoveSource(options: StoreOptions): MoveSource {
  return ownSchema(options, 'source', (connection, { epoch }) => {
    closeInbox(connection)
    return {
      numbers: () => numbersOf(connection),
      page: (table, after, bound) => pageOf(connection, table, after, bound),
      get movedTo() {
        const [isThere] = connection.pluck<boolean>("SELECT to_regclass('moved') IS NOT NULL")
        return isThere === true ? connection.pluck<string>('SELECT address FROM moved')[0] : undefined
      },
      unfinished: () => {
        const [active, entries] = connection.get<[number, number]>(
          'SELECT (SELECT coalesce(sum(active), 0)::bigint FROM lane), (SELECT count(*) FROM inbox)',
        ) as [number, number]
        return { active, entries }
      },
      leave: (to) => {
        connection.transact([
          { text: LAST_TURN, values: [epoch] },
          { text: 'CREATE TABLE IF NOT EXISTS moved (one smallint PRIMARY KEY CHECK (one = 1), address text NOT NULL)', values: [] },
          { text: 'INSERT INTO moved VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET address = excluded.address', values: [to] },
        ])
      },
      close: () => connection.close(),
    }
  })
}
