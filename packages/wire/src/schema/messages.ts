/** The messages: `[type, ...fields]`. */
import { NODE_LIMIT, SCOPES } from '@millrace/core'
import type { ClientIntro, Message, WireLimits } from '../message.ts'
import { DELIVERY } from './deliveries.ts'
import { choice, count, integer, type Kind, list, signed, text, told } from './kinds.ts'
import { field, optional, or, record } from './record.ts'
import { REQUESTS } from './requests.ts'
import { union } from './union.ts'

export const CLIENT = record<ClientIntro>('Client', {
  library: field(told(256), 'name and version'),
  host: field(told(256)),
  pid: field(count),
  process: field(text(256), 'distinguishes the process from one that had its pid before: boot id, pid namespace, start time; may be empty'),
})

export const LIMITS = record<WireLimits>('Limits', {
  frameBytes: field(count, 'of one payload'),
  requestsInFlight: field(count, 'requests without a reply'),
  bytesInFlight: field(count, 'of the payloads that they came in'),
  pingMs: field(count, 'after this long without a frame from the other end: a ping'),
  silenceMs: field(count, 'after this long without a frame from the other end: it is taken for dead'),
  dataBytes: optional(count, 'of data, output and checkpoint each, as they are stored; nil where the server does not say'),
})

const versions: Kind<readonly [number, number]> = {
  says: 'array of two: integer',
  write: (out, [min, max]) => {
    out.array(2)
    out.number(min)
    out.number(max)
  },
  read: (from) => {
    if (from.array(2) !== 2) throw from.wrong('an array of two')
    return [count.read(from), count.read(from)]
  },
}

export const MESSAGE = union<'type', Message>('Message', 'type', {
  hello: {
    code: 1,
    fields: {
      versions: field(versions, 'lowest and highest that the client speaks'),
      token: or(text(1_024), undefined),
      client: field(CLIENT),
    },
  },
  welcome: {
    code: 2,
    fields: {
      version: field(count, 'the highest that both ends speak'),
      server: field(told(256), 'name and version'),
      node: field(integer(0, NODE_LIMIT - 1, 'integer below 2^26'), 'the file’s number, which is part of every job id'),
      scopes: field(list(choice(SCOPES), 64)),
      limits: field(LIMITS),
    },
  },
  requests: { code: 3, fields: { requests: field(REQUESTS) } },
  delivery: { code: 4, fields: { delivery: field(DELIVERY) } },
  ping: { code: 5, fields: { nonce: field(count) } },
  pong: { code: 6, fields: { nonce: field(count, 'of the ping') } },
  goodbye: {
    code: 7,
    fields: {
      code: field(text(128), 'stable, in capitals'),
      message: field(told(4_096), 'for people'),
      retryAfterMs: field(signed, '0: come back at once; -1: do not come back'),
    },
  },
})
