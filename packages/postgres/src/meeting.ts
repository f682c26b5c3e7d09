/**
 * How processes find the owner of a schema: it writes a row of itself, and others read it. Each question is a connection of its own, as most
 * processes ask once.
 */
import type pg from 'pg'
import { leave, newClient } from './line/client.ts'
import { errorOf } from './line/errorOf.ts'
import { streamOf } from './line/opened.ts'
import { SCHEMA_VERSION } from './migrations/list.ts'
import { refusedBy } from './open/check.ts'
import { IS_FREE } from './open/lock.ts'

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
  /** The key that clients need to attach, as base64url: everyone who can read the schema may. */
  readonly secret: string
}

/** Everything that is known of a schema's owner. */
export interface Found {
  /** True if no session has the owner's lock. */
  readonly free: boolean
  /** The last one that said where it is. It may be gone. */
  readonly owner: (Owner & { readonly schema: number }) | undefined
}

export interface Meeting {
  /** @throws StorageError, NotWritableError, NotADatabaseError */
  look(): Promise<Found>
  /** Writes the owner's row, unless a later owner has. */
  announce(owner: Owner): Promise<void>
  /** Removes the owner's row, unless a later owner has written its own. */
  withdraw(epoch: number): Promise<void>
  /** Resolves to the address from which this process reaches the server; undefined if by a Unix socket. */
  localAddress(): Promise<string | undefined>
}

const TIMEOUT_MS = 5_000
/** Codes of a schema, or its table, that does not exist. */
const MISSING: ReadonlySet<string | undefined> = new Set(['3F000', '42P01'])

const READ = `SELECT epoch::float8, host, boot, pid::float8, library, protocol_min::float8, protocol_max::float8, url, secret FROM owner`

const ANNOUNCE = `INSERT INTO owner AS former (one, epoch, since, host, boot, pid, library, protocol_min, protocol_max, url, secret)
VALUES (1, $1, now(), $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch, since = excluded.since,
host = excluded.host, boot = excluded.boot, pid = excluded.pid, library = excluded.library, protocol_min = excluded.protocol_min,
protocol_max = excluded.protocol_max, url = excluded.url, secret = excluded.secret WHERE former.epoch <= excluded.epoch`

export function meetingOf({ url, schema }: { readonly url: string; readonly schema: string }): Meeting {
  return {
    look: () =>
      connected(url, schema, async (client) => {
        const { rows: locks } = await client.query({ text: IS_FREE, values: [schema], rowMode: 'array' })
        const row = await ownerRow(client)
        return { free: locks[0]?.[0] === true, owner: row && ownerOf(row) }
      }),
    announce: ({ epoch, host, boot, pid, library, protocol, url: place, secret }) =>
      connected(url, schema, async (client) => {
        await client.query(ANNOUNCE, [epoch, host, boot, pid, library, ...protocol, place, secret])
      }),
    withdraw: (epoch) =>
      connected(url, schema, async (client) => {
        await client.query('DELETE FROM owner WHERE epoch = $1', [epoch])
      }),
    localAddress: () => connected(url, schema, async (client) => streamOf(client).localAddress),
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
    await client.query(`SET search_path TO "${schema}"`)
    return await use(client)
  } catch (error) {
    throw refusedBy(errorOf(error))
  } finally {
    if (client !== undefined) leave(client)
  }
}

type Row = [number, string, string, number, string, number, number, string, string]

/** Returns undefined if there is no owner, or no schema yet. */
async function ownerRow(client: pg.Client): Promise<Row | undefined> {
  try {
    const { rows } = await client.query<Row>({ text: READ, values: [], rowMode: 'array' })
    return rows[0]
  } catch (error) {
    if (MISSING.has(errorOf(error).code)) return undefined
    throw error
  }
}

function ownerOf([epoch, host, boot, pid, library, min, max, url, secret]: Row): Found['owner'] {
  return { epoch, host, boot, pid, library, protocol: [min, max], url, secret, schema: SCHEMA_VERSION }
}
