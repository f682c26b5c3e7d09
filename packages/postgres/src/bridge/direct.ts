/** Checks that a connection leads to Postgres itself. Nothing may be set before: a pooler would hand the settings to the next application. */
import type pg from 'pg'
import { backendOf } from './opened.ts'

/** The code of the refusal, beside those of the server. */
export const POOLED = 'MR003'

export class PooledError extends Error {
  override name = 'PooledError'
  readonly code = POOLED
}

/** @throws PooledError if another process answers than the one that has greeted */
export async function checkDirect(client: pg.Client): Promise<void> {
  const { rows } = await client.query<[number]>({ text: 'SELECT pg_backend_pid()', values: [], rowMode: 'array' })
  if (rows[0]?.[0] !== backendOf(client)) throw new PooledError('a pooler answers in place of Postgres')
}
