/** Jobs that wait for one another. */
import type { FlowListOptions } from '@millrace/core'
import { json } from '../answer.ts'
import { withBytes } from '../binary.ts'
import { HttpError } from '../errors.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { FLOW, FLOW_CREATED, FLOW_LIST, FLOW_PAGE, FLOW_QUERY, FLOWS_QUERY } from '../schemas/flow.ts'
import { IDEMPOTENCY_HEADER, JOB_PATH } from '../schemas/job.ts'
import { enqueueOptions } from '../schemas/options.ts'
import { withKey } from './jobs.ts'

export function flowRoutes({ engine, settings, cursors }: Service): readonly Operation[] {
  return [
    operation({
      id: 'createFlow',
      method: 'post',
      path: '/v1/flows',
      tag: 'jobs',
      scope: 'enqueue',
      summary: 'Create jobs that wait for one another, all or none',
      headers: IDEMPOTENCY_HEADER,
      body: FLOW,
      responses: {
        201: { description: 'It is created', schema: FLOW_CREATED },
        200: { description: 'The key matched an earlier flow', schema: FLOW_CREATED },
      },
      async handle({ body, request }) {
        const nodes = body.nodes.map((node, place) => ({
          ...withBytes(node, `nodes[${place}].`),
          ...(node.options !== undefined && { options: enqueueOptions(node.options) }),
        }))
        const options = withKey(body.options, request)
        const { id, jobs } = await engine.flow(nodes as Parameters<typeof engine.flow>[0], options as Parameters<typeof engine.flow>[1])
        const handles = Object.entries(jobs)
        const created = handles.some(([, handle]) => handle.created)
        const answer = { id, created, jobs: Object.fromEntries(handles.map(([ref, handle]) => [ref, handle.id])) }
        return created ? json(201, answer, { location: `${settings.basePath}/v1/flows/${id}` }) : json(200, answer)
      },
    }),

    operation({
      id: 'listFlows',
      compress: true,
      method: 'get',
      path: '/v1/flows',
      tag: 'jobs',
      scope: 'read',
      summary: 'A page of flows, newest first',
      description:
        'Each with the number of its jobs in each state. A flow is listed as long as one of its jobs that wait for others is kept.',
      query: FLOWS_QUERY,
      responses: { 200: { description: 'The page', schema: FLOW_LIST } },
      async handle({ query: { after: cursor, ...query } }) {
        const after = cursors.open('flowList', cursor)
        const { flows, next, partial } = await engine.flows.list({ ...query, ...(after !== undefined && { after }) } as FlowListOptions)
        return json(200, { flows, next: cursors.sign('flowList', next), partial })
      },
    }),

    operation({
      id: 'getFlow',
      method: 'get',
      path: '/v1/flows/{id}',
      tag: 'jobs',
      scope: 'read',
      summary: 'A page of the jobs of a flow, and what each waits for',
      description:
        'By the id of the flow, or of any of its jobs. Each job stands behind all that it waits for. A page tells of at most 1,000 that its jobs wait for, and may so be short.',
      params: JOB_PATH,
      query: FLOW_QUERY,
      responses: { 200: { description: 'The page', schema: FLOW_PAGE } },
      refusals: [404],
      async handle({ params: { id }, query: { after: cursor, limit } }) {
        const after = cursors.open('flows', cursor)
        const page = await engine.flows.get(id, { ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) })
        if (page === undefined) throw new HttpError('FLOW_NOT_FOUND', `there is no flow ${id}, or all of its jobs were deleted`)
        return json(200, { ...page, next: cursors.sign('flows', page.next) })
      },
    }),
  ]
}
