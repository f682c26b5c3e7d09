/** Handlers as people write them, here and in other queues. Each reports its data when it has done its work. */
import { setImmediate } from 'node:timers/promises'
import type { Engine, Handler } from '@millrace/engine'
import { noop } from './jobs.ts'
import { type Payload, payloadOf } from './payload.ts'
import type { PeerAbility, PeerHandler } from './peers/peer.ts'

export interface HandlerKind {
  readonly name: string
  /** The goal: so much of the limit, at least. */
  readonly ofLimit?: number
  /** The goal: so much of the speed of the empty handler, at least. */
  readonly ofEmpty?: number
  readonly handler: (handled: (data: Payload) => void) => Handler
  /** The same handler in another queue; a string is the reason why none of them runs it. */
  readonly peer: ((handled: (data: Payload) => void) => PeerHandler) | string
  /** The ability that the handler needs, and that not every other queue has. */
  readonly needs?: PeerAbility
  /** The caller reads the id of what it has enqueued. */
  readonly readsId?: boolean
  readonly payload?: (index: number) => Payload
}

/** The handler that does nothing. */
export const EMPTY = 'empty'
const KILOBYTE = 'x'.repeat(900)
/** Takes what is read, so that reading it cannot be left out. */
const read = { characters: 0 }

export const HANDLERS: readonly HandlerKind[] = [
  {
    name: EMPTY,
    handler: (handled) => noop.handler(({ data }) => handled(data)),
    peer:
      (handled) =>
      ({ payload }) =>
        handled(payload),
  },
  {
    name: 'async',
    ofLimit: 0.7,
    handler: (handled) =>
      noop.handler(async ({ data }) => {
        await Promise.resolve()
        handled(data)
      }),
    peer:
      (handled) =>
      async ({ payload }) => {
        await Promise.resolve()
        handled(payload)
      },
  },
  {
    name: 'I/O',
    ofLimit: 0.7,
    handler: (handled) =>
      noop.handler(async ({ data }) => {
        await setImmediate()
        handled(data)
      }),
    peer:
      (handled) =>
      async ({ payload }) => {
        await setImmediate()
        handled(payload)
      },
  },
  {
    name: 'looks at its job',
    ofEmpty: 0.97,
    handler: (handled) =>
      noop.handler(({ data, job }) => {
        read.characters += job.id.length + job.attempt
        handled(data)
      }),
    peer:
      (handled) =>
      ({ payload, id, attempt = 0 }) => {
        read.characters += `${id}`.length + attempt
        handled(payload)
      },
  },
  {
    name: 'a line in the log, and progress',
    handler: (handled) =>
      noop.handler((context) => {
        context.log('info', 'resized')
        context.progress(1)
        handled(context.data)
      }),
    needs: 'report',
    peer: (handled) => async (job) => {
      await job.report?.()
      handled(job.payload)
    },
  },
  {
    name: "the handle's id is read",
    readsId: true,
    handler: (handled) => noop.handler(({ data }) => handled(data)),
    peer: `their answers always bring the id, so this is \`${EMPTY}\``,
  },
  {
    name: '1 kB of data, 1 kB of output',
    payload: (index) => ({ ...payloadOf(index), user: KILOBYTE }),
    handler: (handled) =>
      noop.handler(({ data }) => {
        handled(data)
        return data
      }),
    needs: 'output',
    peer:
      (handled) =>
      ({ payload }) => {
        handled(payload)
        return payload
      },
  },
]

export function handlerKind(name: string): HandlerKind {
  const found = HANDLERS.find((kind) => kind.name === name)
  if (found === undefined) throw new RangeError(`there is no handler '${name}'; there are ${HANDLERS.map((kind) => kind.name).join(', ')}`)
  return found
}

/** Enqueues as that kind's caller does. */
export function callerOf(engine: Engine, { payload = payloadOf, readsId = false }: HandlerKind): (index: number) => Promise<unknown> {
  if (!readsId) return (index) => engine.enqueue(noop, payload(index))
  return async (index) => {
    const { id } = await engine.enqueue(noop, payload(index))
    read.characters += id.length
  }
}
