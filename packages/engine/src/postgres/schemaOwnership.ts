/**
 * The meeting place of the processes that share a schema: a row in it says where the owner listens, and the secret by which clients and owner
 * know each other. A process that can read the schema may attach.
 */
import type { ListenAt } from '@millrace/core'
import type { Meeting } from '@millrace/postgres'
import { newSecret } from '../clock.ts'
import type { Ownership } from '../share/ownership.ts'

/** Addresses that stand for all of a machine: nobody can connect to them. */
const ALL: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** @param exists called when an owner is known, this process or another: the schema is there */
export function schemaOwnership(meeting: Meeting, schema: string, listen: ListenAt | undefined, exists: () => void): Ownership {
  const secret = newSecret()
  /** The address by which this machine reaches the server: others, which reach the server too, are likely to reach it there. */
  const here = async () => (await meeting.localAddress()) ?? '127.0.0.1'
  return {
    store: `schema ${schema}`,
    silence: 'it has not said yet where it listens: try again',
    pauseMs: { least: 50, most: 250 },
    isFoundByNote: true,
    lookEveryMs: 2_000,
    listenAt: async () => ({ url: urlOf(listen?.host ?? (await here()), listen?.port ?? 0), tls: { secret } }),
    look: async () => {
      const { free, owner } = await meeting.look()
      if (owner !== undefined) exists()
      return { mayBeFree: free, where: owner && { url: owner.url, tls: { secret: Buffer.from(owner.secret, 'base64url') } }, note: owner }
    },
    announce: async ({ url, ...note }) => {
      const { hostname, port } = new URL(url)
      const host = hostname.replace(/^\[(.*)\]$/, '$1')
      await meeting.announce({
        ...note,
        url: ALL.has(host) ? urlOf(await here(), Number(port)) : url,
        secret: secret.toString('base64url'),
      })
      exists()
    },
    withdraw: ({ epoch }) => meeting.withdraw(epoch),
  }
}

function urlOf(host: string, port: number): string {
  return `tls://${host.includes(':') ? `[${host}]` : host}:${port}`
}
