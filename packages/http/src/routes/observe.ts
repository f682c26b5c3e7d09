/** Counts, workers, history and failures of the engine. */
import type { Duration } from '@millrace/core'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { overviewOf } from '../overview.ts'
import {
  FAILURES,
  FAILURES_QUERY,
  HISTORY,
  HISTORY_QUERY,
  STATS,
  STATS_QUERY,
  STOP_WORKER,
  WORKER_PATH,
  WORKERS,
} from '../schemas/observed.ts'

export function observeRoutes(service: Service): readonly Operation[] {
  const { engine } = service
  return [
    operation({
      id: 'stats',
      compress: true,
      method: 'get',
      path: '/v1/stats',
      tag: 'observe',
      scope: 'read',
      summary: 'Counts by state and queue, in a time that does not depend on how many jobs there are',
      query: STATS_QUERY,
      responses: { 200: { description: 'The counts', schema: STATS } },
      async handle({ query: { names, definitions } }) {
        const options = { ...(names !== undefined && { names }), ...(definitions !== undefined && { definitions }) }
        return json(200, { ...(await engine.stats(options)), ...(await overviewOf(service)) })
      },
    }),

    operation({
      id: 'workers',
      method: 'get',
      path: '/v1/workers',
      tag: 'observe',
      scope: 'read',
      summary: 'All attached workers',
      responses: { 200: { description: 'The workers', schema: WORKERS } },
      handle: async () => json(200, { workers: await engine.workers() }),
    }),

    operation({
      id: 'stopWorker',
      method: 'post',
      path: '/v1/workers/{id}/stop',
      tag: 'observe',
      scope: 'admin',
      summary: 'Tell a worker to stop: what runs has `timeout` (default 30s), then it is aborted and given back',
      params: WORKER_PATH,
      body: STOP_WORKER,
      bodyOptional: true,
      responses: { 202: { description: 'It gets no more jobs, and is listed until it has left', schema: WORKERS } },
      refusals: [404],
      async handle({ params: { id }, body: { timeout } }) {
        const limit = timeout === null ? Number.POSITIVE_INFINITY : timeout
        await engine.stopWorker(id, limit === undefined ? {} : { timeout: limit as Duration })
        const workers = await engine.workers()
        return json(202, { workers: workers.filter((worker) => worker.id === id) })
      },
    }),

    operation({
      id: 'history',
      compress: true,
      method: 'get',
      path: '/v1/history',
      tag: 'observe',
      scope: 'read',
      summary: 'The work of a queue, or of all, in each minute of the last 6 hours, or each hour of the last 14 days',
      query: HISTORY_QUERY,
      responses: { 200: { description: 'Oldest first', schema: HISTORY } },
      async handle({ query: { queue, queues, limit, step, from, to } }) {
        const options = {
          ...(queue !== undefined && { queue }),
          ...(limit !== undefined && { limit }),
          ...(step !== undefined && { step }),
          ...(from !== undefined && { from: new Date(from) }),
          ...(to !== undefined && { to: new Date(to) }),
        }
        if (queues !== undefined) return json(200, await engine.history({ ...options, queues }))
        return json(200, { points: await engine.history(options) })
      },
    }),

    operation({
      id: 'failures',
      method: 'get',
      path: '/v1/failures',
      tag: 'observe',
      scope: 'read',
      summary: 'Failed runs by their kind',
      query: FAILURES_QUERY,
      responses: { 200: { description: 'The kinds', schema: FAILURES } },
      async handle({ query: { queue, name, limit, order, trend } }) {
        const failures = await engine.failures({
          ...(queue !== undefined && { queue }),
          ...(name !== undefined && { name }),
          ...(limit !== undefined && { limit }),
          ...(order !== undefined && { order }),
          ...(trend !== undefined && { trend }),
        })
        return json(200, { failures })
      },
    }),
  ]
}
