/** Endpoints that receive events. The routes exist only if the API was given such endpoints. */
import { UnsupportedError } from '@millrace/core'
import { json, noContent } from '../answer.ts'
import { HttpError } from '../errors.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { ENABLE, NEW_WEBHOOK, WEBHOOK, WEBHOOK_LIST, WEBHOOK_PATH, WEBHOOK_TEST } from '../schemas/webhook.ts'
import type { NewWebhookEndpoint, WebhookEndpoint } from '../webhooks.ts'

export function webhookRoutes({ settings: { webhooks } }: Service): readonly Operation[] {
  if (webhooks === undefined) return []
  return [
    operation({
      id: 'listWebhooks',
      method: 'get',
      path: '/v1/webhooks',
      tag: 'webhooks',
      scope: 'read',
      summary: 'Every endpoint, with the last event that was posted to it',
      responses: { 200: { description: 'All of them', schema: WEBHOOK_LIST } },
      async handle() {
        return json(200, { webhooks: (await webhooks.list()).map(shown) })
      },
    }),

    operation({
      id: 'putWebhook',
      method: 'put',
      path: '/v1/webhooks/{id}',
      tag: 'webhooks',
      scope: 'admin',
      summary: 'Post events from now on to an endpoint; a known one continues from its last event, with these settings',
      params: WEBHOOK_PATH,
      body: NEW_WEBHOOK,
      responses: { 200: { description: 'The endpoint', schema: WEBHOOK } },
      target: ({ events }) => ({ events }),
      async handle({ params: { id }, body }) {
        return json(200, shown(await webhooks.add({ id, ...body } as NewWebhookEndpoint)))
      },
    }),

    operation({
      id: 'deleteWebhook',
      method: 'delete',
      path: '/v1/webhooks/{id}',
      tag: 'webhooks',
      scope: 'admin',
      summary: 'Tell it nothing more, and cancel what is under way',
      params: WEBHOOK_PATH,
      responses: { 204: { description: 'It is gone' } },
      refusals: [404],
      async handle({ params: { id } }) {
        if (!(await webhooks.remove(id))) throw new HttpError('ENDPOINT_NOT_FOUND', `there is no endpoint '${id}'`)
        return noContent()
      },
    }),

    operation({
      id: 'enableWebhook',
      method: 'post',
      path: '/v1/webhooks/{id}/enable',
      tag: 'webhooks',
      scope: 'admin',
      summary: 'Tell it again',
      params: WEBHOOK_PATH,
      body: ENABLE,
      bodyOptional: true,
      responses: { 204: { description: 'It is so from now on' } },
      refusals: [404],
      async handle({ params: { id }, body: { replay } }) {
        await webhooks.enable(id, replay === undefined ? {} : { replay })
        return noContent()
      },
    }),

    operation({
      id: 'testWebhook',
      method: 'post',
      path: '/v1/webhooks/{id}/test',
      tag: 'webhooks',
      scope: 'admin',
      summary: 'Send it an event of the type `test`, once: it goes where its other events go, by a job of the same queue',
      params: WEBHOOK_PATH,
      responses: { 202: { description: 'The job that delivers it', schema: WEBHOOK_TEST } },
      refusals: [404, 501],
      async handle({ params: { id } }) {
        if (webhooks.test === undefined)
          throw new UnsupportedError('the endpoints of this API send no tests: give the option webhooks a test()')
        return json(202, { jobId: await webhooks.test(id) })
      },
    }),

    operation({
      id: 'disableWebhook',
      method: 'post',
      path: '/v1/webhooks/{id}/disable',
      tag: 'webhooks',
      scope: 'admin',
      summary: 'Tell it nothing until it is enabled, and cancel what is under way',
      params: WEBHOOK_PATH,
      responses: { 204: { description: 'It is so from now on' } },
      refusals: [404],
      async handle({ params: { id } }) {
        await webhooks.disable(id)
        return noContent()
      },
    }),
  ]
}

/** Returns the endpoint without its headers, which may contain secrets. */
function shown({ id, url, secret, events, queues, names, enabled, createdAt, cursor, failingSince, disabledReason }: WebhookEndpoint) {
  return { id, url, secret, events, queues, names, enabled, createdAt, cursor, failingSince, disabledReason }
}
