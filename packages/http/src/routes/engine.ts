/** The engine as a whole. */
import { z } from '@hono/zod-openapi'
import { UnsupportedError } from '@millrace/core'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'

const QUEUES = z.strictObject({ queues: z.array(z.string()) })

export function engineRoutes({ engine: { queues }, settings: { control } }: Service): readonly Operation[] {
  const all = (word: 'pause' | 'resume', summary: string): Operation =>
    operation({
      id: `${word}Engine`,
      method: 'post',
      path: `/v1/engine/${word}`,
      tag: 'engine',
      scope: 'admin',
      summary,
      responses: { 200: { description: 'Which queues', schema: QUEUES } },
      async handle() {
        const names = (await queues.list()).map(({ name }) => name)
        await Promise.all(names.map((name) => queues[word](name)))
        return json(200, { queues: names })
      },
    })
  return [
    all('pause', 'Pause every queue that there is'),
    all('resume', 'Resume every queue, also those that were paused or drained by themselves'),
    operation({
      id: 'stopEngine',
      method: 'post',
      path: '/v1/engine/stop',
      tag: 'engine',
      scope: 'admin',
      summary: 'Stop the process that serves this, as it stops by itself',
      responses: { 202: { description: 'It stops', schema: z.strictObject({ stopping: z.literal(true) }) } },
      refusals: [501],
      async handle() {
        if (control === undefined) throw new UnsupportedError('nobody has said how this process is stopped: the option control')
        // Not waited for: it may well wait for this answer to be sent.
        control.stop()
        return json(202, { stopping: true })
      },
    }),
  ]
}
