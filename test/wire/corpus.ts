/** Whole frames to begin with: the conformance vectors, good and bad, and some that are large. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Grant } from '@millrace/core'
import { encodeMessage, type Role } from '@millrace/wire'

export interface Frame {
  readonly from: Role
  readonly bytes: Uint8Array
}

const VECTORS = new URL('../../packages/wire/vectors/', import.meta.url)

export function corpus(): readonly Frame[] {
  return [...vectors(), ...large()]
}

function vectors(): Frame[] {
  return readdirSync(VECTORS).flatMap((file) => {
    const { vectors } = JSON.parse(readFileSync(new URL(file, VECTORS), 'utf8')) as { vectors: { from: Role; hex: string }[] }
    return vectors.map(({ from, hex }) => ({ from, bytes: new Uint8Array(Buffer.from(hex, 'hex')) }))
  })
}

function large(): Frame[] {
  const few = Array.from({ length: 30 }, (_, index) => index)
  const grant = (seq: number): Grant => ({
    session: 's'.repeat(36),
    seq,
    node: 2 ** 26 - 1,
    enqueuedAt: 2 ** 41,
    name: 'thumbnail',
    queue: 'default',
    run: 1,
    attempt: 1,
    maxAttempts: 4,
    priority: 0,
    weight: 1,
    runAt: 2 ** 41,
    timeout: Number.POSITIVE_INFINITY,
    heartbeatTimeout: 0,
    data: `"${'ä'.repeat(seq * 20)}"`,
    checkpoint: new Uint8Array(seq),
    tags: ['a'],
    meta: '{}',
  })
  const requests = encodeMessage({
    type: 'requests',
    requests: few.map((id) => ({
      id,
      command: { op: 'enqueue', jobs: [{ name: 'a', data: 'x'.repeat(id * 30), tags: ['b'], runAt: 2 ** 41 }] },
    })),
  })
  const delivery = encodeMessage({
    type: 'delivery',
    delivery: { replies: few.map((id) => ({ id, value: true })), grants: few.map(grant), notices: [], events: [], renewal: 1 },
  })
  return [
    { from: 'client', bytes: requests },
    { from: 'server', bytes: delivery },
  ]
}
