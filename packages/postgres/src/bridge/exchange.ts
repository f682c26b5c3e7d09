/**
 * Statements that go to the server in one write, and end with one synchronization: the server answers in one packet, and after an error it
 * skips the rest. Each text is prepared and its columns are described once for each connection.
 */
import pg from 'pg'
import { errorOf } from './errorOf.ts'
import type { Parameter, Reply, Sent } from './message.ts'
import { restored } from './nul.ts'
import { connectionOf, type Wire } from './opened.ts'

/** Object ids of types. */
const INT8 = 20
const BYTEA = 17
const TEXT = 25
const TEXTS = 1009

type Parse = (text: string) => unknown

const parseBytes = pg.types.getTypeParser(BYTEA) as (text: string) => Buffer
const parseTexts = pg.types.getTypeParser(TEXTS as number) as (text: string) => string[]
const PARSERS = new Map<number, Parse>([
  // They stay below 2^53.
  [INT8, Number],
  // A copy: what a buffer shares would travel with it.
  [BYTEA, (text) => new Uint8Array(parseBytes(text))],
  [TEXT, restored],
  [TEXTS, (text) => parseTexts(text).map(restored)],
])
const parserOf = (type: number): Parse => PARSERS.get(type) ?? pg.types.getTypeParser(type)

interface Prepared {
  readonly name: string
  state: 'unknown' | 'sent' | 'known'
  /** One for each column, once the server has described them. */
  parsers: readonly Parse[] | undefined
}

/** A connection with its prepared statements. One exchange follows the other. */
export class Exchanges {
  readonly client: pg.Client
  /** By text. Texts are few: values are parameters. */
  readonly #prepared = new Map<string, Prepared>()
  /** Sent, and not prepared yet. */
  readonly #preparing: Prepared[] = []

  constructor(client: pg.Client) {
    this.client = client
    connectionOf(client).on('parseComplete', () => {
      const prepared = this.#preparing.shift()
      if (prepared !== undefined) prepared.state = 'known'
    })
  }

  /** Never rejects. Statements outside of a transaction share one, which ends with the last of them. */
  send(statements: readonly Sent[]): Promise<Reply> {
    const exchange = new Exchange(statements, this.#prepare, this.#preparing)
    this.client.query(exchange as unknown as pg.Submittable)
    return exchange.reply
  }

  readonly #prepare = (text: string): Prepared => {
    let prepared = this.#prepared.get(text)
    if (prepared === undefined) {
      prepared = { name: `m${this.#prepared.size}`, state: 'unknown', parsers: undefined }
      this.#prepared.set(text, prepared)
    }
    return prepared
  }
}

interface Step {
  readonly text: string
  readonly prepared: Prepared
  readonly values: readonly (string | Buffer | null)[]
}

/** A query as the driver sends it and tells it of the answers. */
class Exchange {
  readonly #steps: readonly Step[]
  readonly #preparing: Prepared[]
  readonly #rows: unknown[][][]
  readonly #reply = Promise.withResolvers<Reply>()
  #ended = 0

  constructor(statements: readonly Sent[], prepare: (text: string) => Prepared, preparing: Prepared[]) {
    this.#steps = statements.map(({ text, parameters }) => ({ text, prepared: prepare(text), values: parameters.map(asBuffer) }))
    this.#preparing = preparing
    this.#rows = statements.map(() => [])
  }

  get reply(): Promise<Reply> {
    return this.#reply.promise
  }

  submit(connection: Wire): void {
    connection.stream.cork()
    try {
      for (const { text, prepared, values } of this.#steps) {
        if (prepared.state === 'unknown') {
          connection.parse({ name: prepared.name, text })
          prepared.state = 'sent'
          this.#preparing.push(prepared)
        }
        connection.bind({ statement: prepared.name, values })
        if (prepared.parsers === undefined) connection.describe({ type: 'P' })
        connection.execute()
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#current.prepared.parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID))
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { parsers = [] } = this.#current.prepared
    this.#rows[this.#ended]?.push(fields.map((field, column) => (field === null ? null : parsers[column]?.(field))))
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#current.prepared.parsers ??= []
    this.#ended++
    // Whatever becomes of the connection, the transaction is committed.
    if (text === 'COMMIT') this.handleReadyForQuery()
  }

  handleReadyForQuery(): void {
    this.#reply.resolve({ rows: this.#rows, error: undefined })
  }

  /** Also called when the connection breaks. */
  handleError(error: unknown): void {
    // The server has skipped these. The next exchange begins after it has said so.
    for (const prepared of this.#preparing.splice(0)) prepared.state = 'unknown'
    this.#reply.resolve({ rows: this.#rows, error: errorOf(error) })
  }

  get #current(): Step {
    return this.#steps[this.#ended] as Step
  }
}

/** The driver writes no other bytes. */
function asBuffer(parameter: Parameter): string | Buffer | null {
  return parameter instanceof Uint8Array ? Buffer.from(parameter.buffer, parameter.byteOffset, parameter.byteLength) : parameter
}
