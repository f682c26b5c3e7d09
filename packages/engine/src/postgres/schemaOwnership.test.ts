import type { OwnerRegistry } from '@millrace/postgres'
import { expect, test } from 'vitest'
import type { OwnerNote } from '../share/ownership.ts'
import { schemaOwnership } from './schemaOwnership.ts'

test('clients through the schema are cut off if the epoch or the address has changed, and not if the same owner is announced again', async () => {
  const told: string[] = []
  const owners = {
    announce: async ({ url }: OwnerNote) => void told.push(`row ${url}`),
    withdraw: async () => {},
  } as unknown as OwnerRegistry
  const { announce, withdraw } = schemaOwnership({
    driver: {
      keyOf: () => Buffer.alloc(32),
      openTunnel: async () => 0,
      serveTunnels: ({ epoch }, { port }) => {
        told.push(`serves ${epoch} at ${port}`)
        return () => void told.push(`cuts ${epoch}`)
      },
    },
    owners,
    url: 'postgres://localhost/db',
    schema: 'jobs',
    listen: undefined,
    transport: 'auto',
    exists: () => {},
  })
  const note = (epoch: number, port: number): OwnerNote => ({
    url: `tls://10.0.0.1:${port}`,
    epoch,
    host: 'h',
    boot: '',
    pid: 1,
    schema: 1,
    library: 'l',
    protocol: [1, 1],
  })
  for (const [epoch, port] of [
    [1, 7000],
    [1, 7000],
    [2, 7000],
    [2, 8000],
  ] as const)
    await announce(note(epoch, port))
  await withdraw(note(2, 8000))
  await announce(note(2, 8000))
  const [first, second] = ['row tls://10.0.0.1:7000', 'row tls://10.0.0.1:8000']
  expect(told).toEqual([
    first,
    'serves 1 at 7000',
    first,
    first,
    'cuts 1',
    'serves 2 at 7000',
    second,
    'cuts 2',
    'serves 2 at 8000',
    'cuts 2',
    second,
    'serves 2 at 8000',
  ])
})
