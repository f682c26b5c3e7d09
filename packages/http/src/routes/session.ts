/** Sessions: a browser gives the token once, and has a cookie from then on. */
import { json, noContent } from '../answer.ts'
import { BOUNDS } from '../limits.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { LOG_IN, SESSION } from '../schemas/session.ts'

const LOG_IN_ABOUT = `The cookie holds the token, sealed, for 12 hours after its last use, and 7 days at most. It is sent as the
\`Authorization\` header would be: a revoked token ends its sessions. Changes by cookie have to come from a page of the same origin.`

export function sessionRoutes({ access, settings }: Service): readonly Operation[] {
  return [
    operation({
      id: 'logIn',
      method: 'post',
      path: '/v1/session',
      tag: 'session',
      summary: 'Begin a session of a browser',
      description: LOG_IN_ABOUT,
      body: LOG_IN,
      bodyBytes: BOUNDS.sessionBodyBytes,
      responses: { 204: { description: 'The cookie is set' } },
      refusals: [401, 403, 429, 501],
      async handle({ body, request, env }) {
        return noContent({ 'set-cookie': await access.logIn(request, env, body.token) })
      },
    }),

    operation({
      id: 'getSession',
      method: 'get',
      path: '/v1/session',
      tag: 'session',
      scope: 'any',
      summary: 'The caller, and what the token allows',
      responses: { 200: { description: 'The caller', schema: SESSION } },
      handle({ caller: { name, scopes } }) {
        return json(200, { name, scopes, open: settings.authenticate === undefined })
      },
    }),

    operation({
      id: 'logOut',
      method: 'delete',
      path: '/v1/session',
      bodyBytes: BOUNDS.sessionBodyBytes,
      tag: 'session',
      summary: 'End the session of this browser',
      description: 'It needs no session: one that is over may be ended, too.',
      responses: { 204: { description: 'The cookie is removed' } },
      refusals: [403],
      handle({ request }) {
        return noContent({ 'set-cookie': access.logOut(request) })
      },
    }),
  ]
}
