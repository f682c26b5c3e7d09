/**
 * The sockets of the program. The route needs no token, because clients ask it before they send one: ADR 67. Only programs of this
 * machine see paths, and the ports that only this machine reaches.
 */
import { z } from '@hono/zod-openapi'
import { isLoopbackNeighbourhood } from '@millrace/core'
import { addressOf } from '../access/address.ts'
import { namesAddress } from '../access/hosts.ts'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import type { SocketPlace } from '../sockets.ts'

const SOCKETS = z
  .strictObject({
    sockets: z.array(
      z.strictObject({
        kind: z.enum(['unix', 'pipe', 'tcp', 'tls']),
        path: z.string().optional().openapi({ description: 'The path of a Unix socket, or the name of a pipe.' }),
        file: z.string().optional().openapi({ description: 'The device and the inode number of a Unix socket.' }),
        port: z.number().optional(),
      }),
    ),
  })
  .openapi('Sockets')

/** Headers of proxies and browsers: a request with one of them may come from another machine, or from a page. */
const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'origin', 'referer', 'sec-fetch-site'] as const

export function socketRoutes({ settings: { sockets } }: Service): readonly Operation[] {
  if (sockets === undefined) return []
  return [
    operation({
      id: 'sockets',
      method: 'get',
      path: '/v1/sockets',
      tag: 'observe',
      summary: 'The sockets for workers and producers that the caller can reach',
      description: 'It needs no token. A program on the same machine sees all of them, and others see the ports of `tls://`.',
      responses: { 200: { description: 'The sockets', schema: SOCKETS } },
      handle({ request, env }) {
        const near = isNear(request, env)
        return json(200, { sockets: sockets().flatMap((place) => (near || isPublic(place) ? [shown(place)] : [])) })
      },
    }),
  ]
}

/** True for a program on this machine, as far as can be told: a proxy here that adds none of these headers looks like one. */
function isNear(request: Request, env: unknown): boolean {
  const address = addressOf(env)
  if (address === undefined || !isLoopbackNeighbourhood(address)) return false
  return namesAddress(request) && PASSED_ON.every((name) => !request.headers.has(name))
}

function isPublic(place: SocketPlace): boolean {
  return place.kind === 'tls' && !place.local
}

function shown(place: SocketPlace) {
  return 'port' in place ? { kind: place.kind, port: place.port } : place
}
