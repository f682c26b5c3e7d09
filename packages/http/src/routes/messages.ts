/** Messages to jobs: handlers take them by `waitFor`. */
import { z } from '@hono/zod-openapi'
import { type JobRef, KEY_KINDS, SENT, type SendOptions, type Sent } from '@millrace/core'
import { type Caller, namedBy } from '../access/caller.ts'
import { json } from '../answer.ts'
import { binaryOf, withBytes } from '../binary.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { IDEMPOTENCY_HEADER, JOB_PATH } from '../schemas/job.ts'
import { KEY, NAME } from '../schemas/plain.ts'
import { withKey } from './jobs.ts'

const MESSAGE = KEY.openapi({ param: { name: 'message', in: 'path' }, description: 'The name of the message.' })

const BODY = z
  .strictObject({
    data: z.unknown().optional().openapi({ description: 'The data that the handler gets; null if it is left out.' }),
    binary: binaryOf('data'),
    idempotencyKey: KEY.optional().openapi({ description: 'Stores the message once: a repeat is answered with `known`.' }),
    by: z.string().min(1).max(128).optional().openapi({ description: 'The name of who sends it; default that of the token.' }),
  })
  .openapi('Message')

const SENT_MESSAGE = z
  .strictObject({
    outcome: z.enum(SENT).openapi({
      description: '`taken`: the job has slept until it, and wakes. `kept`: stored for a later wait. `known`: sent before with that key.',
    }),
  })
  .openapi('SentMessage')

const KEYED = z.strictObject({
  kind: z.enum(KEY_KINDS).openapi({ param: { name: 'kind', in: 'path' } }),
  name: NAME.openapi({ param: { name: 'name', in: 'path' }, description: 'The name of the job.' }),
  key: KEY.openapi({ param: { name: 'key', in: 'path' } }),
  message: MESSAGE,
})

export function messageRoutes({ engine }: Service): readonly Operation[] {
  const common = {
    method: 'post',
    tag: 'jobs',
    scope: 'send',
    headers: IDEMPOTENCY_HEADER,
    body: BODY,
    bodyOptional: true,
    responses: { 200: { description: 'It is stored', schema: SENT_MESSAGE } },
    refusals: [404, 409],
    target: ({ by }: z.infer<typeof BODY>) => (by === undefined ? {} : { by }),
  } as const
  const send = async (job: JobRef, message: string, body: z.infer<typeof BODY>, request: Request, caller: Caller) => {
    const { data, ...options } = withBytes(body)
    const only = caller.names === undefined ? {} : { only: caller.names }
    const outcome: Sent = await engine.send(job, message, data, {
      ...namedBy(caller),
      ...withKey(options, request),
      ...only,
    } as SendOptions)
    return json(200, { outcome })
  }
  return [
    operation({
      ...common,
      id: 'sendMessage',
      path: '/v1/jobs/{id}/messages/{message}',
      summary: 'Send a message to a job',
      params: JOB_PATH.extend({ message: MESSAGE }),
      handle: ({ params: { id, message }, body, request, caller }) => send(id, message, body, request, caller),
    }),
    operation({
      ...common,
      id: 'sendMessageByKey',
      path: '/v1/keys/{kind}/{name}/{key}/messages/{message}',
      summary: 'Send a message to the job that holds a key',
      params: KEYED,
      handle: ({ params: { kind, name, key, message }, body, request, caller }) =>
        send(kind === 'unique' ? { name, uniqueKey: key } : { name, idempotencyKey: key }, message, body, request, caller),
    }),
  ]
}
