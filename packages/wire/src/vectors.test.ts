/** The conformance vectors: what other languages test their clients with, this one is held to first. */

import { readdirSync, readFileSync } from 'node:fs'
import { OPERATIONS, type Request } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { decodeMessage, encodeMessage } from './codec.ts'
import { WireError } from './errors.ts'
import { FrameReader } from './frames.ts'
import type { Message, Role } from './message.ts'
import { NOTICE } from './schema/deliveries.ts'
import { maySend } from './states.ts'

interface Vector {
  readonly name: string
  readonly from: Role
  /** The whole frame. */
  readonly hex: string
  /** False: it is read, and written in a shorter form. */
  readonly canonical?: false
  readonly message?: Message
  readonly reply?: Message
  readonly error?: string
  /** The frame is read, and the server refuses its request with this code. */
  readonly refusal?: string
}

const folder = new URL('../vectors/', import.meta.url)
const FRAME_BYTES = 17 * 2 ** 20
const FILES = readdirSync(folder).map((file) => {
  const { vectors } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'), revive) as { vectors: readonly Vector[] }
  return [file, vectors] as const
})
const ALL = FILES.flatMap(([, vectors]) => vectors)

/** What JSON cannot say. */
function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('$bytes' in value) return new Uint8Array(Buffer.from(value.$bytes as string, 'hex'))
  return '$number' in value ? Number(value.$number) : value
}

function read({ hex, from }: Vector): Message {
  const reader = new FrameReader({ frameBytes: FRAME_BYTES })
  const payloads = reader.push(new Uint8Array(Buffer.from(hex, 'hex')))
  expect(payloads).toHaveLength(1)
  expect(reader.partial).toBe(false)
  return decodeMessage(payloads[0] as Uint8Array, from)
}

/** Of a reply that cannot be read, the call alone is refused where the reply's end can be found. */
function refusalOf(vector: Vector): string | undefined {
  try {
    const message = read(vector)
    if (message.type === 'requests') return message.requests.find((request) => 'refusal' in request)?.refusal.code
    const refusal = message.type === 'delivery' ? message.delivery.replies[0]?.refusal?.code : undefined
    return refusal === 'PROTOCOL' || refusal === 'TOO_LARGE' ? 'BAD_FRAME' : refusal
  } catch (error) {
    return error instanceof WireError ? error.code : String(error)
  }
}

describe.each(FILES)('%s', (_file, vectors) => {
  test.each(vectors)('$name', (vector) => {
    const { from, hex, canonical, message, reply, error, refusal } = vector
    if (message === undefined) {
      expect(refusalOf(vector)).toBe(error ?? refusal)
      return
    }
    expect(read(vector)).toEqual(message)
    const written = Buffer.from(encodeMessage(message)).toString('hex')
    if (canonical === false) expect(written.length).toBeLessThan(hex.length)
    else expect(written).toBe(hex)
    if (reply !== undefined) {
      const other = from === 'client' ? 'server' : 'client'
      expect(maySend(other, reply.type)).toBe(true)
      expect(decodeMessage(encodeMessage(reply).subarray(4), other)).toEqual(reply)
    }
  })
})

test('names are told apart', () => {
  const names = ALL.map(({ name }) => name)
  for (const [, vectors] of FILES) expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  expect(names.length).toBeGreaterThan(100)
})

test('there is one for every type of message and every operation', () => {
  const messages = ALL.flatMap(({ message }) => message ?? [])
  expect(new Set(messages.map(({ type }) => type))).toEqual(
    new Set(['hello', 'welcome', 'requests', 'delivery', 'ping', 'pong', 'goodbye']),
  )
  const operations = messages.flatMap((message) =>
    message.type === 'requests' ? (message.requests as readonly Request[]).map(({ command }) => command.op) : [],
  )
  expect(new Set(operations)).toEqual(new Set(Object.keys(OPERATIONS)))
})

test('there is one for every kind of notice, and every cause of an abort', () => {
  const notices = ALL.flatMap(({ message }) => (message?.type === 'delivery' ? message.delivery.notices : []))
  expect(new Set(notices.map(({ kind }) => kind))).toEqual(new Set(Object.keys(NOTICE.variants)))
  const causes = notices.flatMap((notice) => (notice.kind === 'abort' ? notice.cause : []))
  expect(new Set(causes)).toEqual(new Set(['timeout', 'cancel', 'stop']))
})
