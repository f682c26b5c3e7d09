/** The parts of a driver's client that its types leave out. */
import type pg from 'pg'

type Opened = pg.Client & { readonly processID: number; readonly connection: Wire }

interface Stream {
  readonly localAddress?: string
  cork(): void
  uncork(): void
  destroy(): void
  unref(): void
}

/** The messages of the protocol that a client may send. */
export interface Wire {
  readonly stream: Stream
  on(event: 'parseComplete', listener: () => void): void
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: readonly (string | Buffer | null)[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(): void
  sync(): void
}

export function connectionOf(client: pg.Client): Wire {
  return (client as Opened).connection
}

/** Returns the socket of a client. */
export function streamOf(client: pg.Client): Stream {
  return connectionOf(client).stream
}

/** Returns the number by which the server knows this connection; a pooler gives another one. */
export function backendOf(client: pg.Client): number {
  return (client as Opened).processID
}
