/** The installation: which program and file answer, its name and colour, and which parts of the API are on. */
import { z } from '@hono/zod-openapi'
import { INSTANCE_COLOURS } from '@millrace/core'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { WHEN } from '../schemas/plain.ts'

const INFO = z
  .strictObject({
    version: z.string().optional().openapi({ description: 'The version of the program that serves the API, if it says one.' }),
    node: z.number().openapi({ description: 'The number of the file, which is part of every job id; 0 if the engine does not say it.' }),
    instance: z.strictObject({ name: z.string().optional(), colour: z.enum(INSTANCE_COLOURS).optional() }),
    startedAt: WHEN.openapi({ description: 'The time at which the API was built.' }),
    now: WHEN.openapi({ description: 'The time by the clock of the server.' }),
    on: z.strictObject({ webhooks: z.boolean(), control: z.boolean(), tokens: z.boolean(), tokenStore: z.boolean() }).openapi({
      description:
        'True if there is `/v1/webhooks`; if `/v1/engine/stop` has an effect; if requests need a token; if there are `/v1/tokens` and `/v1/audit`.',
    }),
    samples: z
      .array(z.strictObject({ title: z.string(), job: z.string(), data: z.unknown().optional(), options: z.looseObject({}) }))
      .openapi({ description: 'Jobs that the dashboard offers to enqueue, as `POST /v1/jobs` takes them.' }),
  })
  .openapi('Info')

export function infoRoutes({ engine, settings, clock, startedAt }: Service): readonly Operation[] {
  const { version, instance, webhooks, control, authenticate, dashboard, tokens } = settings
  const on = {
    webhooks: webhooks !== undefined,
    control: control !== undefined,
    tokens: authenticate !== undefined,
    tokenStore: tokens !== undefined,
  }
  return [
    operation({
      id: 'info',
      compress: true,
      method: 'get',
      path: '/v1/info',
      tag: 'observe',
      scope: 'read',
      summary: 'The installation, and which parts of the API are on',
      responses: { 200: { description: 'The installation', schema: INFO } },
      async handle() {
        const { node } = await engine.stats({ names: 'none', definitions: 'disputed' })
        return json(200, {
          version,
          node,
          instance,
          startedAt: new Date(startedAt.wall),
          now: new Date(clock.read().wall),
          on,
          samples: dashboard?.samples ?? [],
        })
      },
    }),
  ]
}
