/**
 * Connections beside the store's: of those that look for an owner, and of the mailbox. The first one loads the driver. The threads of a writer and
 * of a reader do without it, since the store's connection has a thread of its own: a schema opens in a twentieth less time.
 */
import { quietClock } from '@millrace/worker/clock'
import type pg from 'pg'
import { streamOf } from './opened.ts'

const GOODBYE_MS = 1_000

/** Rejects if the driver cannot read the URL. */
export async function newClient(options: pg.ClientConfig): Promise<pg.Client> {
  const { default: driver } = await import('pg')
  return new driver.Client(options)
}

/** Says goodbye. Nobody waits for it: the server may have vanished. */
export function leave(client: pg.Client): void {
  const cancel = quietClock.setTimer(GOODBYE_MS, () => streamOf(client).destroy())
  client.end().then(cancel, cancel)
}
