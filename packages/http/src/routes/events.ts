/** Events as they happen. */

import { z } from '@hono/zod-openapi'
import type { EventsFilter, EventType } from '@millrace/core'
import { text } from '../answer.ts'
import { HttpError, invalid } from '../errors.ts'
import { eventStream, Frames } from '../eventStream.ts'
import { letGo } from '../letGo.ts'
import { BOUNDS } from '../limits.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { Pace } from '../pace.ts'
import { EVENT_DATA, EVENTS_QUERY } from '../schemas/observed.ts'

const DESCRIPTION = `Server-sent events. The \`id\` of each is its place in the journal: who comes back with the last one as \`Last-Event-ID\` (or
\`after\`, which counts less) misses none and has none twice. Where the journal has forgotten some, an event \`gap\` takes their place.`

export function eventRoutes({ engine, clock, access }: Service): readonly Operation[] {
  let open = 0
  /** The number of open streams by the name of the caller, which is that of the token. */
  const openOf = new Map<string, number>()
  const count = (name: string, change: 1 | -1) => {
    open += change
    const own = (openOf.get(name) ?? 0) + change
    if (own > 0) openOf.set(name, own)
    else openOf.delete(name)
  }
  const frames = new Frames()
  const onChange = (listener: () => void) => access.onChange(listener)
  const pace = new Pace()
  return [
    operation({
      id: 'events',
      method: 'get',
      path: '/v1/events',
      tag: 'observe',
      scope: 'read',
      summary: 'Events, lossless by their ids',
      description: DESCRIPTION,
      query: EVENTS_QUERY,
      headers: z.object({ 'last-event-id': z.string().optional() }),
      responses: {
        200: {
          description: 'A stream without an end; the schema is that of `data`',
          type: 'text/event-stream',
          schema: EVENT_DATA,
        },
      },
      handle({ query: { after = 0, types, ...where }, request, caller, env, stillMay }) {
        if (request.method === 'HEAD') return text('', 'text/event-stream')
        if (open >= BOUNDS.streams) throw new HttpError('BUSY', `${BOUNDS.streams} event streams are open, and no more are served`)
        if ((openOf.get(caller.name) ?? 0) >= BOUNDS.streamsPerToken)
          throw new HttpError('BUSY', `${BOUNDS.streamsPerToken} event streams of this token are open: close one, or use another token`)
        const filter = { ...where, ...(types !== undefined && { types: types.split(',') as EventType[] }) } as EventsFilter
        const ended = () => count(caller.name, -1)
        // A server that closes waits for its streams, and the engine stops after it.
        const ends = [request.signal, engine.leaving.signal]
        const stream = eventStream(engine, {
          frames,
          pace,
          after: lastIdOf(request) ?? after,
          filter,
          ends,
          clock,
          stillMay,
          onChange,
          ended,
        })
        count(caller.name, 1)
        // nginx would hold it back until a buffer is full.
        const response = text(stream, 'text/event-stream', { 'x-accel-buffering': 'no' })
        letGo(response, env)
        return response
      },
    }),
  ]
}

function lastIdOf({ headers }: Request): number | undefined {
  const id = headers.get('last-event-id')
  if (id === null || id === '') return undefined
  if (/^\d{1,15}$/.test(id)) return Number(id)
  const message = 'Last-Event-ID is the id of an event'
  throw invalid(message, [{ path: 'header.last-event-id', message }])
}
