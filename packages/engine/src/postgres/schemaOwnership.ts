/**
 * How processes that share a schema find its owner: a row in it says where the owner listens, and the secret by which clients and owner
 * know each other. A process that can read the schema may attach: by a socket, or through the schema if no socket leads to the owner.
 */
import type { ListenAt, Transport } from '@millrace/core'
import type { OwnerRegistry } from '@millrace/postgres'
import { newSecret, systemClock } from '../clock.ts'
import type { Ownership } from '../share/ownership.ts'
import type { Postgres } from './load.ts'

export interface SchemaOwnershipOptions {
  readonly driver: Pick<Postgres, 'keyOf' | 'openTunnel' | 'serveTunnels'>
  readonly owners: OwnerRegistry
  readonly url: string
  readonly schema: string
  readonly listen: ListenAt | undefined
  readonly transport: Transport
  /** Called when an owner is known, this process or another: the schema is there. */
  readonly exists: () => void
}

/** Addresses that stand for all of a machine: nobody can connect to them. */
const ALL: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const LOOPBACK = '127.0.0.1'
/** The attempts by a socket before one through the schema. */
const SOCKET_ATTEMPTS = 3
/** Attempts that are further apart do not belong together: a connection has held between them. */
const TOGETHER_MS = 30_000

export function schemaOwnership({ driver, owners, url, schema, listen, transport, exists }: SchemaOwnershipOptions): Ownership {
  const secret = newSecret()
  const isThroughSchema = attemptsOf(transport)
  let stopServing = () => {}
  /** The epoch and the address that clients are led to through the schema. */
  let served: string | undefined
  /** The address by which this machine reaches the server: others, which reach the server too, are likely to reach it there. */
  const here = async () => {
    const { schemaId, localAddress = LOOPBACK } = await owners.here()
    return { key: driver.keyOf(secret, schemaId), localAddress }
  }

  return {
    store: `schema ${schema}`,
    silence: 'it has not said yet where it listens: try again',
    pauseMs: { least: 50, most: 250 },
    isFoundByNote: true,
    lookEveryMs: 2_000,
    listenAt: async () => {
      const { key, localAddress } = await here()
      const host = transport === 'postgres' ? LOOPBACK : (listen?.host ?? localAddress)
      return { url: urlOf(host, listen?.port ?? 0), tls: { secret: key } }
    },
    look: async () => {
      const { free, owner } = await owners.find()
      if (owner !== undefined) exists()
      return { mayBeFree: free, where: owner && { url: owner.url, tls: { secret: owner.key } }, note: owner }
    },
    holder: () => owners.holder(),
    reach: async () => {
      const { free, owner } = await owners.find()
      // A row that nobody stands for is of a dead owner, or came with a copy of the schema.
      if (owner === undefined || free) return undefined
      exists()
      const { epoch, url: ownerUrl, key } = owner
      const tls = { secret: key }
      if (!isThroughSchema(epoch)) return { where: { url: ownerUrl, tls }, ownerUrl }
      const port = await driver.openTunnel({ url, schema, epoch }, newSecret().toString('hex'))
      return { where: { url: urlOf(LOOPBACK, port), tls }, ownerUrl }
    },
    announce: async ({ url: listening, ...note }) => {
      const { hostname, port } = new URL(listening)
      const host = hostname.replace(/^\[(.*)\]$/, '$1')
      const reached = ALL.has(host) ? urlOf((await here()).localAddress, Number(port)) : listening
      await owners.announce({ ...note, url: reached }, secret)
      exists()
      // The same note is announced again if its row is gone, and the clients of its tunnels are not cut off for that.
      const serving = `${note.epoch} ${listening}`
      if (served === serving) return
      stopServing()
      served = serving
      const to = { host: ALL.has(host) ? LOOPBACK : host, port: Number(port) }
      stopServing = transport === 'socket' ? () => {} : driver.serveTunnels({ url, schema, epoch: note.epoch }, to)
    },
    withdraw: ({ epoch }) => {
      stopServing()
      stopServing = () => {}
      served = undefined
      return owners.withdraw(epoch)
    },
  }
}

/**
 * Returns a function that is asked before each attempt to reach the owner of an epoch, and says which way it goes. The way that held last comes
 * first; then there is one attempt through the schema after three by a socket.
 */
function attemptsOf(transport: Transport): (epoch: number) => boolean {
  let last = { epoch: -1, atMono: 0, count: 0, isThroughSchema: false }
  return (epoch) => {
    if (transport !== 'auto') return transport === 'postgres'
    const atMono = systemClock.read().mono
    const isAnother = last.epoch === epoch && atMono - last.atMono < TOGETHER_MS
    const first = last.isThroughSchema ? SOCKET_ATTEMPTS + 1 : 1
    const count = isAnother ? last.count + 1 : first
    last = { epoch, atMono, count, isThroughSchema: count % (SOCKET_ATTEMPTS + 1) === 0 }
    return last.isThroughSchema
  }
}

function urlOf(host: string, port: number): string {
  return `tls://${host.includes(':') ? `[${host}]` : host}:${port}`
}
