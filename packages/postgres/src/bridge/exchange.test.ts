/** Exchanges over a connection that is played by the test, which answers when it is told to. */
import { EventEmitter } from 'node:events'
import pg from 'pg'
import { expect, test } from 'vitest'
import { Exchanges } from './exchange.ts'
import type { Sent } from './message.ts'

interface Query {
  submit(connection: unknown): void
  handleRowDescription(message: { readonly fields: readonly { readonly dataTypeID: number }[] }): void
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void
  handleCommandComplete(message: { readonly text: string }): void
  handleReadyForQuery(): void
  handleError(error: unknown): void
}

/** Object id of the type of whole numbers. */
const INT8 = 20

class FakeConnection extends EventEmitter {
  readonly messages: string[] = []
  readonly stream = { cork: () => {}, uncork: () => {} }
  parse = ({ text }: { readonly text: string }) => void this.messages.push(`parse ${text}`)
  bind = ({ values }: { readonly values: readonly unknown[] }) => void this.messages.push(`bind ${values.join(' ')}`)
  describe = () => void this.messages.push('describe')
  execute = () => void this.messages.push('execute')
  sync = () => void this.messages.push('sync')
}

/** As the driver: one query at a time, and the next one as soon as the server is ready. */
class FakeClient {
  readonly connection = new FakeConnection()
  readonly #waiting: Query[] = []
  #active: Query | undefined
  #isReady = true

  query(query: Query): void {
    this.#waiting.push(query)
    this.#pulse()
  }

  /** Answers one statement. */
  answer({ isNew = true, value, tag = 'SELECT 1' }: { isNew?: boolean; value?: string; tag?: string } = {}): void {
    if (isNew) {
      this.connection.emit('parseComplete')
      this.#active?.handleRowDescription({ fields: [{ dataTypeID: INT8 }] })
    }
    if (value !== undefined) this.#active?.handleDataRow({ fields: [value] })
    this.#active?.handleCommandComplete({ text: tag })
  }

  fail(code: string): void {
    const error = Object.assign(new pg.DatabaseError('no', 2, 'error'), { code, severity: 'ERROR' })
    this.#active?.handleError(error)
    this.#active = undefined
  }

  ready(): void {
    this.#active?.handleReadyForQuery()
    this.#active = undefined
    this.#isReady = true
    this.#pulse()
  }

  #pulse(): void {
    if (!this.#isReady) return
    this.#active = this.#waiting.shift()
    if (this.#active === undefined) return
    this.#isReady = false
    this.#active.submit(this.connection)
  }
}

function open(): { readonly client: FakeClient; readonly exchanges: Exchanges } {
  const client = new FakeClient()
  return { client, exchanges: new Exchanges(client as unknown as pg.Client) }
}

const statement = (text: string, ...parameters: readonly string[]): Sent => ({ text, parameters })

test('statements leave with one synchronization; a text is prepared and described once', async () => {
  const { client, exchanges } = open()
  const first = exchanges.send([statement('A', '1'), statement('B', '2'), statement('A', '3')])
  expect(client.connection.messages).toEqual([
    'parse A',
    'bind 1',
    'describe',
    'execute',
    'parse B',
    'bind 2',
    'describe',
    'execute',
    'bind 3',
    'describe',
    'execute',
    'sync',
  ])
  client.answer({ value: '7' })
  client.answer()
  client.answer({ isNew: false, value: '8' })
  client.ready()
  expect(await first).toEqual({ rows: [[[7]], [], [[8]]], error: undefined })
  client.connection.messages.length = 0
  void exchanges.send([statement('A', '4')])
  expect(client.connection.messages).toEqual(['bind 4', 'execute', 'sync'])
})

test('an exchange that waits for another one prepares what it has, once', async () => {
  const { client, exchanges } = open()
  const both = [exchanges.send([statement('A')]), exchanges.send([statement('B')])]
  client.answer()
  client.ready()
  client.answer()
  client.ready()
  await Promise.all(both)
  client.connection.messages.length = 0
  void exchanges.send([statement('A'), statement('B')])
  expect(client.connection.messages).toEqual(['bind ', 'execute', 'bind ', 'execute', 'sync'])
})

test('after an error, what the server has skipped is prepared again, and nothing else', async () => {
  const { client, exchanges } = open()
  const failed = exchanges.send([statement('A'), statement('B'), statement('C')])
  client.answer()
  client.fail('42P01')
  expect(await failed).toMatchObject({ error: { code: '42P01' } })
  const next = exchanges.send([statement('A'), statement('B'), statement('C')])
  client.connection.messages.length = 0
  client.ready()
  expect(client.connection.messages.filter((message) => message.startsWith('parse'))).toEqual(['parse B', 'parse C'])
  client.answer({ isNew: false })
  client.answer()
  client.answer()
  client.ready()
  expect(await next).toMatchObject({ error: undefined })
})

test('a transaction whose COMMIT was answered is committed, whatever becomes of the connection', async () => {
  const { client, exchanges } = open()
  const sent = exchanges.send([statement('BEGIN'), statement('COMMIT')])
  client.answer({ tag: 'BEGIN' })
  client.answer({ tag: 'COMMIT' })
  client.fail('57P01')
  expect(await sent).toMatchObject({ error: undefined })
  const cut = open()
  const lost = cut.exchanges.send([statement('BEGIN'), statement('COMMIT')])
  cut.client.answer({ tag: 'BEGIN' })
  cut.client.fail('57P01')
  expect(await lost).toMatchObject({ error: { code: '57P01' } })
})
