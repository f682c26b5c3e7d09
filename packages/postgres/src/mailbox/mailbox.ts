/**
 * Streams of bytes through the schema, for clients that cannot reach the owner: a frame is a row of an unlogged table, and each batch is
 * announced by a notification. One end is the owner, with a stream for each client; the other end is a client with one stream.
 */
import { createHash } from 'node:crypto'
import { NotWritableError } from '@millrace/core'
import { quietClock } from '@millrace/worker/clock'
import type pg from 'pg'
import { leave, newClient } from '../bridge/client.ts'
import { checkDirect } from '../bridge/direct.ts'
import { errorOf } from '../bridge/errorOf.ts'
import { streamOf } from '../bridge/opened.ts'
import { refusedBy } from '../open/check.ts'

export interface MailboxOptions {
  readonly url: string
  readonly schema: string
  /** The owner's epoch: frames for another owner are not its own. */
  readonly epoch: number
  /** The stream of a client; undefined for the owner, who has them all. */
  readonly stream: string | undefined
  /** The number of the first frame of each stream, beyond those of an earlier mailbox of this end. Default 0. */
  readonly first?: number
}

export interface MailboxListener {
  /**
   * Called with the next bytes of a stream, and their number, from 0 on. Empty bytes are its end. If it returns a promise, the stream's next
   * frames are left in the table until that resolves.
   */
  heard(stream: string, bytes: Buffer, number: number): Promise<void> | undefined
  /** Called once, when the connection is lost: all streams are over. */
  over(): void
}

/** Frames to the owner, and frames to clients. */
const WAYS = { in: 0, out: 1 } as const

export const CREATE_FRAME = `CREATE UNLOGGED TABLE frame (
  epoch bigint NOT NULL, way smallint NOT NULL, stream text NOT NULL, number bigint NOT NULL, bytes bytea NOT NULL,
  PRIMARY KEY (epoch, way, stream, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`

/** The statements of a mailbox. They name the table with its schema. */
function textsOf(schema: string) {
  const frame = `"${schema}".frame`
  return {
    send: `WITH sent AS (
  INSERT INTO ${frame} SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[], $5::bytea[]) ON CONFLICT DO NOTHING
)
SELECT pg_notify(channel, '') FROM unnest($6::text[]) AS channel`,
    take: `DELETE FROM ${frame} WHERE epoch = $1 AND way = $2 AND ($3::text IS NULL OR stream = $3) AND stream <> ALL ($4::text[])
RETURNING stream, number::float8, bytes`,
    left: `SELECT DISTINCT stream FROM ${frame} WHERE epoch = $1 AND way = $2 AND stream = ANY ($3::text[])`,
    /** Removes frames that nobody will take. */
    forget: `DELETE FROM ${frame} WHERE epoch < $1 OR (epoch = $1 AND stream = ANY ($2::text[]))`,
  }
}

/** The bytes of a stream that may be in the table before its other end has taken them all. */
const WINDOW_BYTES = 2 ** 20
/** The bytes of a stream that wait for the connection at most, or about so. */
const QUEUE_BYTES = 2 ** 18
const LOOK_AGAIN_MS = 10
const CONNECT_MS = 5_000
const LOOK_MS = 10_000
const QUERY_MS = 10_000
/** The time to send what is queued before the mailbox closes. */
const LAST_SEND_MS = 1_000
const FORBIDDEN = '42501'

interface Outgoing {
  /** The number of the next frame. */
  number: number
  queue: Buffer[]
  /** The bytes that were sent since the other end was last known to have taken all. */
  sentBytes: number
  /** Called when what is queued has been sent. */
  sent: (() => void)[]
}

export class Mailbox {
  readonly #client: pg.Client
  readonly #options: MailboxOptions
  readonly #texts
  #listener: MailboxListener | undefined
  readonly #outgoing = new Map<string, Outgoing>()
  /** Streams whose frames are left in the table for now. */
  readonly #held = new Set<string>()
  #sending: Promise<void> | undefined
  #taking = false
  #cancelLook = () => {}
  #notified = false
  #over = false

  private constructor(client: pg.Client, options: MailboxOptions) {
    this.#client = client
    this.#options = options
    this.#texts = textsOf(options.schema)
  }

  /** @throws StorageError, NotWritableError, UnsupportedRuntimeError */
  static async open(options: MailboxOptions): Promise<Mailbox> {
    const { url, schema, epoch, stream } = options
    let client: pg.Client | undefined
    try {
      client = await newClient({
        ...{
          connectionString: url,
          application_name: `millrace ${schema} (mailbox)`,
          connectionTimeoutMillis: CONNECT_MS,
          keepAlive: true,
          keepAliveInitialDelayMillis: LOOK_MS,
          query_timeout: QUERY_MS,
        },
      })
      const mailbox = new Mailbox(client, options)
      client.on('error', () => mailbox.#end())
      client.on('end', () => mailbox.#end())
      client.on('notification', () => void mailbox.#take())
      await client.connect()
      // The engine decides what keeps its process alive.
      streamOf(client).unref()
      await checkDirect(client)
      await client.query('SET synchronous_commit TO off')
      await client.query(`LISTEN ${channelOf(options, stream)}`)
      // A client that may not use the table hears of it now.
      const { forget, left } = mailbox.#texts
      await client.query(stream === undefined ? forget : left, stream === undefined ? [epoch, []] : [epoch, WAYS.out, [stream]])
      return mailbox
    } catch (error) {
      if (client !== undefined) leave(client)
      const refused = errorOf(error)
      if (refused.code !== FORBIDDEN) throw refusedBy(refused)
      throw new NotWritableError(
        `${refused.message}: grant the user SELECT, INSERT and DELETE on the table frame, or reach the owner by transport: 'socket'`,
      )
    }
  }

  /** Begins to take frames. The first may be there already. */
  listen(listener: MailboxListener): void {
    this.#listener = listener
    if (this.#over) listener.over()
    else this.#look()
  }

  /** Looks for frames now and then, too: a connection that is lost in silence announces nothing. */
  #look(): void {
    void this.#take()
    this.#cancelLook = quietClock.setTimer(LOOK_MS, () => this.#look())
  }

  /** Sends bytes, or the end of the stream as empty bytes. Returns a promise if enough of the stream is queued, which resolves when it is sent. */
  send(stream: string, bytes: Buffer): Promise<void> | undefined {
    let outgoing = this.#outgoing.get(stream)
    if (outgoing === undefined) {
      outgoing = { number: this.#options.first ?? 0, queue: [], sentBytes: 0, sent: [] }
      this.#outgoing.set(stream, outgoing)
    }
    const { queue, sent } = outgoing
    queue.push(bytes)
    this.#sending ??= this.#flush()
    if (queue.reduce((sum, { length }) => sum + length, 0) <= QUEUE_BYTES) return undefined
    return new Promise((resolve) => sent.push(resolve))
  }

  /** Forgets a stream that is over, with the frames that its other end did not take. */
  async forget(stream: string): Promise<void> {
    this.#outgoing.delete(stream)
    this.#held.delete(stream)
    if (!this.#over) await this.#query(this.#texts.forget, [this.#options.epoch, [stream]])
  }

  /** Sends what is queued, if that is possible soon, and closes. */
  async close(): Promise<void> {
    const cancel = quietClock.setTimer(LAST_SEND_MS, () => this.#end())
    await this.#sending
    cancel()
    this.#end()
  }

  async #flush(): Promise<void> {
    while (!this.#over) {
      const waiting = [...this.#outgoing].filter(([, { queue }]) => queue.length > 0)
      if (waiting.length === 0) break
      const full = waiting.filter(([, { sentBytes }]) => sentBytes >= WINDOW_BYTES)
      if (full.length > 0) await this.#lookAtWindows(full, full.length === waiting.length)
      const open = waiting.filter(([, { sentBytes }]) => sentBytes < WINDOW_BYTES)
      if (open.length > 0) await this.#sendFrames(open)
    }
    this.#sending = undefined
  }

  async #sendFrames(open: readonly (readonly [string, Outgoing])[]): Promise<void> {
    const { epoch } = this.#options
    const frames = open.flatMap(([stream, outgoing]) => framesOf(stream, outgoing))
    const column = <Name extends keyof Frame>(name: Name) => frames.map((frame) => frame[name])
    const channels = this.#isOwner ? open.map(([stream]) => channelOf(this.#options, stream)) : [channelOf(this.#options, undefined)]
    await this.#query(this.#texts.send, [
      epoch,
      this.#isOwner ? WAYS.out : WAYS.in,
      column('stream'),
      column('number'),
      column('bytes'),
      channels,
    ])
    for (const [, { sent }] of open) for (const resolve of sent.splice(0)) resolve()
  }

  /** @param isIdle true if there is nothing else to send */
  async #lookAtWindows(full: readonly (readonly [string, Outgoing])[], isIdle: boolean): Promise<void> {
    const streams = full.map(([stream]) => stream)
    const rows = await this.#query<[string]>(this.#texts.left, [this.#options.epoch, this.#isOwner ? WAYS.out : WAYS.in, streams])
    const left = new Set(rows.map(([stream]) => stream))
    for (const [stream, outgoing] of full) if (!left.has(stream)) outgoing.sentBytes = 0
    if (isIdle && left.size === full.length) await new Promise<void>((done) => void quietClock.setTimer(LOOK_AGAIN_MS, done))
  }

  async #take(): Promise<void> {
    this.#notified = true
    if (this.#taking || this.#listener === undefined) return
    this.#taking = true
    while (this.#notified && !this.#over) {
      this.#notified = false
      const values = [this.#options.epoch, this.#isOwner ? WAYS.in : WAYS.out, this.#options.stream ?? null, [...this.#held]]
      const rows = await this.#query<[string, number, Buffer]>(this.#texts.take, values)
      for (const [stream, number, bytes] of rows.sort((a, b) => a[1] - b[1])) this.#hear(stream, bytes, number)
    }
    this.#taking = false
  }

  #hear(stream: string, bytes: Buffer, number: number): void {
    const busy = this.#listener?.heard(stream, bytes, number)
    if (busy === undefined) return
    this.#held.add(stream)
    void busy.then(() => {
      if (this.#held.delete(stream)) void this.#take()
    })
  }

  get #isOwner(): boolean {
    return this.#options.stream === undefined
  }

  /** Returns nothing once the connection is lost. */
  async #query<Row extends unknown[]>(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.#client.query<Row>({ text, values: [...values], rowMode: 'array' })).rows
    } catch {
      this.#end()
      return []
    }
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#cancelLook()
    for (const { sent } of this.#outgoing.values()) for (const resolve of sent.splice(0)) resolve()
    leave(this.#client)
    this.#listener?.over()
  }
}

interface Frame {
  readonly stream: string
  readonly number: number
  readonly bytes: Buffer
}

/** Takes what is queued out of it: the end of a stream stays a frame of its own. */
function framesOf(stream: string, outgoing: Outgoing): readonly Frame[] {
  const { queue } = outgoing
  outgoing.queue = []
  const bytes = Buffer.concat(queue)
  const parts = [...(bytes.length > 0 ? [bytes] : []), ...queue.filter(({ length }) => length === 0)]
  outgoing.sentBytes += bytes.length
  return parts.map((part) => ({ stream, number: outgoing.number++, bytes: part }))
}

/** Names of channels are short; that of a schema may be long. */
function channelOf({ schema }: MailboxOptions, stream: string | undefined): string {
  return `mr_${createHash('sha256')
    .update(`${schema} ${stream ?? ''}`)
    .digest('hex')
    .slice(0, 32)}`
}
