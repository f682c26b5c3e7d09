/** The inbox of a schema that is moved: it refuses entries, so that none is left behind. */
import { MoveRefusedError } from '@millrace/core'
import type { Connection } from '../connection.ts'
import { failureOf } from '../failure.ts'

const LOCK_TIMEOUT = '55P03'

/** Waits for the transactions that have inserted, and lets none insert any more. */
const CLOSE_INBOX = [
  `CREATE OR REPLACE FUNCTION refuse_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this queue is moving, or has moved, to another store: enqueue there'
    USING ERRCODE = 'object_not_in_prerequisite_state';
END $$`,
  'CREATE OR REPLACE TRIGGER inbox_closed BEFORE INSERT ON inbox FOR EACH STATEMENT EXECUTE FUNCTION refuse_entry()',
]

/** @throws MoveRefusedError if a transaction that has enqueued jobs stays open */
export function closeInbox(connection: Connection): void {
  const { error } = connection.attemptAll(CLOSE_INBOX.map((text) => ({ text, values: [] })))
  if (error === undefined) return
  if (error.code !== LOCK_TIMEOUT) throw failureOf(error)
  throw new MoveRefusedError('a transaction that has enqueued jobs is still open: end it, and move again')
}

/** Lets jobs into the inbox again, after a move that was given up. */
export function openInbox(connection: Connection): void {
  const [isClosed] = connection.pluck<number>("SELECT 1 FROM pg_trigger WHERE tgname = 'inbox_closed' AND tgrelid = 'inbox'::regclass")
  if (isClosed !== undefined) connection.transact([{ text: 'DROP TRIGGER inbox_closed ON inbox', values: [] }])
}
