/** The engine as a whole. */
import { z } from '@hono/zod-openapi'
import { UnsupportedError } from '@millrace/core'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'

const PAUSED = z.strictObject({ paused: z.boolean() })

export function engineRoutes({ engine: { queues }, settings: { control } }: Service): readonly Operation[] {
  const all = (word: 'pause' | 'resume', summary: string): Operation =>
    operation({
      id: `${word}Engine`,
      method: 'post',
      path: `/v1/engine/${word}`,
      tag: 'engine',
      scope: 'admin',
      summary,
      responses: { 200: { description: 'The state of the pause', schema: PAUSED } },
      async handle() {
        await queues[`${word}All`]()
        return json(200, { paused: word === 'pause' })
      },
    })
  return [
    all('pause', 'Start nothing of any queue until it is resumed'),
    all('resume', 'Resume; queues that were paused or drained on their own stay so'),
    operation({
      id: 'stopEngine',
      method: 'post',
      path: '/v1/engine/stop',
      tag: 'engine',
      scope: 'admin',
      summary: 'Stop the process that serves this, as a signal would',
      responses: { 202: { description: 'It stops', schema: z.strictObject({ stopping: z.literal(true) }) } },
      refusals: [501],
      async handle() {
        if (control === undefined)
          throw new UnsupportedError('this process cannot be stopped over HTTP: give createHttp the option control')
        // Not awaited, because it may wait for this answer to be sent.
        control.stop()
        return json(202, { stopping: true })
      },
    }),
  ]
}
