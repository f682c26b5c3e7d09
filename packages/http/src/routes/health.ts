/** Probes and metrics. */
import { z } from '@hono/zod-openapi'
import { whyUnready } from '@millrace/client'
import { json, text } from '../answer.ts'
import { OPEN_METRICS_TYPE, openMetrics } from '../metrics/openMetrics.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { overviewOf } from '../overview.ts'

const degraded = z.string().optional()
const READY = z.strictObject({ status: z.enum(['ready', 'not ready']), reason: z.string().optional(), degraded }).openapi('Readiness')

export function healthRoutes(service: Service): readonly Operation[] {
  const { engine, clock, settings } = service
  const unready = async (): Promise<string | undefined> => {
    if (settings.ready?.() === false) return 'it is starting, or stopping'
    return whyUnready(engine, clock)
  }
  // A restart would repair nothing of it, and jobs are taken: the probes pass.
  const degradation = () => {
    const found = settings.degraded?.()
    return found === undefined ? {} : { degraded: found }
  }
  return [
    operation({
      id: 'healthz',
      method: 'get',
      path: '/healthz',
      tag: 'health',
      summary: 'Check that the process answers',
      responses: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok'), degraded }) } },
      handle: () => json(200, { status: 'ok', ...degradation() }),
    }),

    operation({
      id: 'readyz',
      method: 'get',
      path: '/readyz',
      tag: 'health',
      summary: 'Check that new work is accepted',
      responses: { 200: { description: 'It is', schema: READY }, 503: { description: 'It is not', schema: READY } },
      async handle() {
        const reason = await unready()
        return reason === undefined
          ? json(200, { status: 'ready', ...degradation() })
          : json(503, { status: 'not ready', reason, ...degradation() })
      },
    }),

    operation({
      id: 'metrics',
      compress: true,
      method: 'get',
      path: '/metrics',
      tag: 'health',
      scope: 'read',
      summary: 'Metrics, in the OpenMetrics format',
      responses: { 200: { description: 'OpenMetrics 1.0', type: OPEN_METRICS_TYPE } },
      handle: async () => text(openMetrics(await engine.stats(), await overviewOf(service)), OPEN_METRICS_TYPE),
    }),
  ]
}
