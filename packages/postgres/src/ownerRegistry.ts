/**
 * How processes find the owner of a schema: it writes a row of itself, and others read it. Each question is a connection of its own, as most
 * processes ask once.
 */
import { createHmac } from 'node:crypto'
import { NotWritableError } from '@millrace/core'
import type pg from 'pg'
import { leave, newClient } from './bridge/client.ts'
import { checkDirect } from './bridge/direct.ts'
import { errorOf } from './bridge/errorOf.ts'
import { streamOf } from './bridge/opened.ts'
import { SCHEMA_VERSION } from './migrations/list.ts'
import { refusedBy } from './open/check.ts'
import { HOLDER, type Holder, holderText, IS_FREE } from './open/lock.ts'

/** The row that an owner writes of itself. */
export interface Owner {
  readonly epoch: number
  readonly host: string
  readonly boot: string
  readonly pid: number
  readonly library: string
  readonly protocol: readonly [min: number, max: number]
  /** The address at which it listens. */
  readonly url: string
}

/** The place at which an owner is about to listen. */
export interface Here {
  /** The id of the schema, which a copy of it elsewhere does not have. */
  readonly schemaId: string
  /** The address from which this process reaches the server; undefined if by a Unix socket. */
  readonly localAddress: string | undefined
}

/** Everything that is known of a schema's owner. */
export interface Found {
  /** True if no session has the owner's lock. */
  readonly free: boolean
  /** The last one that said where it is, with its key. It may be gone. An owner of the schema that this one was copied from is none. */
  readonly owner: (Owner & { readonly schema: number; readonly key: Buffer }) | undefined
}

export interface OwnerRegistry {
  /** @throws StorageError, NotWritableError, NotADatabaseError */
  find(): Promise<Found>
  /** Resolves to the words for the session that has the owner's lock; undefined if none has. */
  holder(): Promise<string | undefined>
  /** Writes the owner's row with its secret, unless a later owner has. Everyone who can read the schema may attach. */
  announce(owner: Owner, secret: Buffer): Promise<void>
  /** Removes the owner's row, unless a later owner has written its own. */
  withdraw(epoch: number): Promise<void>
  here(): Promise<Here>
  /** Puts jobs into the inbox in one transaction, as name, data and options. Resolves to their ids. */
  enqueue(entries: readonly (readonly [name: string, data: string | null, options: string])[]): Promise<readonly string[]>
  /** Resolves to the time of the last commit, in milliseconds since 1970. */
  lastCommit(): Promise<number>
}

/** Returns the key by which clients of a schema attach. The row of a copied schema has the secret, but its clients derive another key. */
export function keyOf(secret: Buffer, schemaId: string): Buffer {
  return createHmac('sha256', secret).update(schemaId).digest()
}

const TIMEOUT_MS = 5_000
/** The code of a right that the user lacks. */
const FORBIDDEN = '42501'
/** Codes of a schema that does not exist, lacks its tables, or was made before 0.1.0. */
const MISSING: ReadonlySet<string | undefined> = new Set(['3F000', '42P01', '42703', '42883'])

/** Tables are named with their schema: a session that has set nothing has nothing to leave behind. */
const readOwner = (schema: string) =>
  `SELECT epoch::float8, host, boot, pid::float8, library, protocol_min::float8, protocol_max::float8, url, secret, schema_id
FROM "${schema}".owner WHERE schema_id = "${schema}".schema_id()`

const announceOwner = (
  schema: string,
) => `INSERT INTO "${schema}".owner AS former (one, epoch, since, host, boot, pid, library, protocol_min, protocol_max, url, secret, schema_id)
VALUES (1, $1, now(), $2, $3, $4, $5, $6, $7, $8, $9, "${schema}".schema_id()) ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch,
since = excluded.since, host = excluded.host, boot = excluded.boot, pid = excluded.pid, library = excluded.library,
protocol_min = excluded.protocol_min, protocol_max = excluded.protocol_max, url = excluded.url, secret = excluded.secret,
schema_id = excluded.schema_id WHERE former.epoch <= excluded.epoch`

const enqueueAll = (schema: string) =>
  `SELECT "${schema}".enqueue(name, data::jsonb, options::jsonb) FROM unnest($1::text[], $2::text[], $3::text[]) AS entry (name, data, options)`

export function ownerRegistryOf({ url, schema }: { readonly url: string; readonly schema: string }): OwnerRegistry {
  return {
    find: () =>
      connected(url, schema, async (client) => {
        const { rows: locks } = await client.query({ text: IS_FREE, values: [schema], rowMode: 'array' })
        const row = await ownerRow(client, schema)
        return { free: locks[0]?.[0] === true, owner: row && ownerOf(row) }
      }),
    holder: () =>
      connected(url, schema, async (client) => {
        const { rows } = await client.query<[...Holder]>({ text: HOLDER, values: [schema], rowMode: 'array' })
        return holderText(rows[0])
      }),
    announce: ({ epoch, host, boot, pid, library, protocol, url: place }, secret) =>
      connected(url, schema, async (client) => {
        const values = [epoch, host, boot, pid, library, ...protocol, place, secret.toString('base64url')]
        await client.query(announceOwner(schema), values)
      }),
    withdraw: (epoch) =>
      connected(url, schema, async (client) => {
        await client.query(`DELETE FROM "${schema}".owner WHERE epoch = $1`, [epoch])
      }),
    here: () =>
      connected(url, schema, async (client) => {
        const { rows } = await client.query<[string]>({ text: `SELECT "${schema}".schema_id()`, values: [], rowMode: 'array' })
        return { schemaId: rows[0]?.[0] as string, localAddress: streamOf(client).localAddress }
      }),
    enqueue: (entries) =>
      connected(url, schema, async (client) => {
        const column = (index: 0 | 1 | 2) => entries.map((entry) => entry[index])
        const { rows } = await client.query<[string]>({
          text: enqueueAll(schema),
          values: [column(0), column(1), column(2)],
          rowMode: 'array',
        })
        return rows.map(([id]) => id)
      }),
    lastCommit: () =>
      connected(url, schema, async (client) => {
        const text = `SELECT at::float8 FROM "${schema}".journal ORDER BY turn DESC LIMIT 1`
        return (await client.query<[number]>({ text, values: [], rowMode: 'array' })).rows[0]?.[0] as number
      }),
  }
}

async function connected<Value>(url: string, schema: string, use: (client: pg.Client) => Promise<Value>): Promise<Value> {
  let client: pg.Client | undefined
  try {
    client = await newClient({
      connectionString: url,
      application_name: `millrace ${schema} (looks for its owner)`,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    })
    client.on('error', () => {})
    await client.connect()
    await checkDirect(client)
    return await use(client)
  } catch (error) {
    const refused = errorOf(error)
    if (refused.code !== FORBIDDEN) throw refusedBy(refused)
    throw new NotWritableError(
      `${refused.message}: grant the user USAGE on schema ${schema} and SELECT on its table owner, or make the user the owner of the schema`,
    )
  } finally {
    if (client !== undefined) leave(client)
  }
}

type Row = [number, string, string, number, string, number, number, string, string, string]

/** Returns undefined if there is no owner, or no schema yet. */
async function ownerRow(client: pg.Client, schema: string): Promise<Row | undefined> {
  try {
    const { rows } = await client.query<Row>({ text: readOwner(schema), values: [], rowMode: 'array' })
    return rows[0]
  } catch (error) {
    if (MISSING.has(errorOf(error).code)) return undefined
    throw error
  }
}

function ownerOf([epoch, host, boot, pid, library, min, max, url, secret, schemaId]: Row): Found['owner'] {
  const key = keyOf(Buffer.from(secret, 'base64url'), schemaId)
  return { epoch, host, boot, pid, library, protocol: [min, max], url, key, schema: SCHEMA_VERSION }
}
