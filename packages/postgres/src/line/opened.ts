/** The parts of a driver's client that its types leave out. */
import type pg from 'pg'

type Opened = pg.Client & { readonly processID: number; readonly connection: { readonly stream: Stream } }

interface Stream {
  readonly localAddress?: string
  destroy(): void
  unref(): void
}

/** Returns the socket of a client. */
export function streamOf(client: pg.Client): Stream {
  return (client as Opened).connection.stream
}

/** Returns the number by which the server knows this connection; a pooler gives another one. */
export function backendOf(client: pg.Client): number {
  return (client as Opened).processID
}
