/** Queues. */
import { isErrorOf, type PauseOptions, type PurgeOptions } from '@millrace/core'
import { json, noContent } from '../answer.ts'
import { HttpError } from '../errors.ts'
import { BOUNDS } from '../limits.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import {
  DRAIN,
  DRAINED,
  KEYS_QUERY,
  PAUSE,
  PURGE,
  PURGED,
  QUEUE,
  QUEUE_BODY,
  QUEUE_KEYS,
  QUEUE_LIST,
  QUEUE_PATH,
  QUEUES_QUERY,
  queueOptions,
  RESUME,
} from '../schemas/queue.ts'

export function queueRoutes({ engine: { queues } }: Service): readonly Operation[] {
  const pausing = (word: 'pause' | 'resume', summary: string, body: typeof PAUSE | typeof RESUME): Operation =>
    operation({
      id: `${word}Queue`,
      method: 'post',
      path: `/v1/queues/{name}/${word}`,
      tag: 'queues',
      scope: 'admin',
      summary,
      params: QUEUE_PATH,
      body,
      bodyOptional: true,
      responses: { 204: { description: 'It is so from now on' } },
      refusals: [404],
      target: (body) => body,
      async handle({ params: { name }, body }) {
        await queues[word](name, body as PauseOptions)
        return noContent()
      },
    })
  return [
    operation({
      id: 'listQueues',
      compress: true,
      method: 'get',
      path: '/v1/queues',
      tag: 'queues',
      scope: 'read',
      summary: 'All queues, or a page of them, in the order of their names',
      query: QUEUES_QUERY,
      responses: { 200: { description: 'All queues', schema: QUEUE_LIST } },
      async handle({ query: { after, limit } }) {
        const all = after === undefined && limit === undefined
        const page = all ? await queues.list() : await queues.page({ ...(after && { after }), ...(limit && { limit }) })
        return json(200, { queues: page })
      },
    }),

    operation({
      id: 'getQueue',
      compress: true,
      method: 'get',
      path: '/v1/queues/{name}',
      tag: 'queues',
      scope: 'read',
      summary: 'A queue',
      params: QUEUE_PATH,
      responses: { 200: { description: 'The queue', schema: QUEUE } },
      refusals: [404],
      async handle({ params: { name } }) {
        const queue = await queues.get(name)
        if (queue === undefined) throw noQueue(name)
        return json(200, queue)
      },
    }),

    operation({
      id: 'queueKeys',
      method: 'get',
      path: '/v1/queues/{name}/keys',
      tag: 'queues',
      scope: 'read',
      summary: 'The concurrency keys of a queue that have the most waiting jobs',
      params: QUEUE_PATH,
      query: KEYS_QUERY,
      responses: { 200: { description: 'The keys', schema: QUEUE_KEYS } },
      refusals: [404],
      async handle({ params: { name }, query: { limit } }) {
        const found = await queues.keys(name, limit === undefined ? {} : { limit })
        if (found === undefined) throw noQueue(name)
        return json(200, found)
      },
    }),

    operation({
      id: 'configureQueue',
      method: 'put',
      path: '/v1/queues/{name}',
      tag: 'queues',
      scope: 'admin',
      summary: 'Change what a queue holds its jobs to; it is made where there is none',
      params: QUEUE_PATH,
      body: QUEUE_BODY,
      responses: { 200: { description: 'The queue as it is now', schema: QUEUE } },
      target: (body) => ({ settings: body }),
      async handle({ params: { name }, body }) {
        await queues.configure(name, queueOptions(body))
        return json(200, await queues.get(name))
      },
    }),

    operation({
      id: 'deleteQueue',
      method: 'delete',
      path: '/v1/queues/{name}',
      tag: 'queues',
      scope: 'admin',
      summary: 'Forget an empty queue',
      params: QUEUE_PATH,
      responses: { 204: { description: 'It is gone' } },
      refusals: [404, 409],
      async handle({ params: { name } }) {
        if (!(await queues.delete(name).catch(notEmpty))) throw noQueue(name)
        return noContent()
      },
    }),

    pausing('pause', 'Start nothing of a queue until it is resumed, or for a time', PAUSE),
    pausing('resume', 'Take back one pause, or a drain', RESUME),

    operation({
      id: 'drainQueue',
      method: 'post',
      path: '/v1/queues/{name}/drain',
      tag: 'queues',
      scope: 'admin',
      summary: 'Take no new jobs into a queue until it is resumed',
      params: QUEUE_PATH,
      body: DRAIN,
      bodyOptional: true,
      responses: {
        200: { description: 'It is empty', schema: DRAINED },
        202: { description: 'It has jobs left, and continues to drain', schema: DRAINED },
      },
      refusals: [404],
      async handle({ params: { name }, body: { waitMs = BOUNDS.drainMs } }) {
        // The engine would create the queue.
        if ((await queues.get(name)) === undefined) throw noQueue(name)
        try {
          await queues.drain(name, { timeout: waitMs })
          return json(200, { drained: true })
        } catch (error) {
          if (isErrorOf(error, 'DrainIncompleteError')) return json(202, { drained: false })
          throw error
        }
      },
    }),

    operation({
      id: 'purgeQueue',
      method: 'post',
      path: '/v1/queues/{name}/purge',
      tag: 'queues',
      scope: 'admin',
      summary: 'Count the jobs of a queue, or remove them with `dryRun: false`',
      params: QUEUE_PATH,
      body: PURGE,
      bodyOptional: true,
      responses: { 200: { description: 'How many, by state', schema: PURGED } },
      target: (body) => body,
      async handle({ params: { name }, body: { states, dryRun = true } }) {
        const options: PurgeOptions = { dryRun, ...(states !== undefined && { states }) }
        return json(200, { dryRun, ...(await queues.purge(name, options)) })
      },
    }),
  ]
}

/** Replaces the library's call in the message with the request that makes room. */
function notEmpty(error: unknown): never {
  if (!isErrorOf(error, 'QueueNotEmptyError')) throw error
  const { queue, jobs } = error
  const message = `queue '${queue}' has ${jobs} jobs, ended ones included: POST /v1/queues/${encodeURIComponent(queue)}/purge with { "dryRun": false } removes those that do not run`
  throw new HttpError('QUEUE_NOT_EMPTY', message, { queue, jobs })
}

function noQueue(queue: string): HttpError {
  return new HttpError('QUEUE_NOT_FOUND', `there is no queue '${queue}'`, { queue })
}
