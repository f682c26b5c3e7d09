/** Tokens, and the audit of what they were used for. The routes exist only if the API was given a store of tokens. */
import { allowsLess, ForbiddenError, permitOption } from '@millrace/core'
import type { Caller } from '../access/caller.ts'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { AUDIT_LIST, AUDIT_QUERY, CREATED_TOKEN, NEW_TOKEN, TOKEN, TOKEN_LIST, TOKEN_PATH } from '../schemas/token.ts'
import type { NewToken, TokenFacts } from '../tokens.ts'

const AUDIT_SHOWN = 100

export function tokenRoutes({ settings: { tokens } }: Service): readonly Operation[] {
  if (tokens === undefined) return []
  return [
    operation({
      id: 'listTokens',
      method: 'get',
      path: '/v1/tokens',
      tag: 'tokens',
      scope: 'admin',
      summary: 'Every token, revoked ones included, without the tokens themselves',
      responses: { 200: { description: 'All of them, the oldest first', schema: TOKEN_LIST } },
      handle: () => json(200, { tokens: tokens.list().map(shown) }),
    }),

    operation({
      id: 'createToken',
      method: 'post',
      path: '/v1/tokens',
      tag: 'tokens',
      scope: 'admin',
      summary: 'Create a token, which only this answer shows',
      body: NEW_TOKEN,
      responses: { 201: { description: 'The token', schema: CREATED_TOKEN } },
      refusals: [409],
      target: ({ name, scopes }) => ({ name, scopes }),
      handle({ body, caller }) {
        refuseWider(caller, body as NewToken)
        const { token, view } = tokens.create(body as NewToken)
        return json(201, { token, ...shown(view) })
      },
    }),

    operation({
      id: 'revokeToken',
      method: 'delete',
      path: '/v1/tokens/{id}',
      tag: 'tokens',
      scope: 'admin',
      summary: 'Revoke a token with immediate effect: its sessions, streams and connections end, too',
      params: TOKEN_PATH,
      responses: { 200: { description: 'The token', schema: TOKEN } },
      refusals: [404],
      handle: ({ params: { id } }) => json(200, shown(tokens.revoke(id))),
    }),

    operation({
      id: 'audit',
      method: 'get',
      path: '/v1/audit',
      tag: 'tokens',
      scope: 'admin',
      summary: 'The newest calls that needed the scope admin, refused ones included',
      query: AUDIT_QUERY,
      responses: { 200: { description: 'The newest first', schema: AUDIT_LIST } },
      handle: ({ query: { limit = AUDIT_SHOWN } }) => json(200, { entries: tokens.audited(limit) }),
    }),
  ]
}

/** Refuses a token that allows more than that of its creator. Otherwise the scope admin would be every other scope, too. */
function refuseWider(caller: Caller, { scopes, names, queues }: NewToken): void {
  const wanted = permitOption('', { scopes, names, queues })
  if (!allowsLess(caller, wanted)) return
  const bounds = [caller.names, caller.queues].some((bound) => bound !== undefined) ? ' and its names and queues' : ''
  const message = `a token creates tokens that allow no more than itself: choose from its scopes ${caller.scopes.join(', ')}${bounds}`
  throw new ForbiddenError(message)
}

function shown({ id, name, scopes, names, queues, createdAt, lastUsedAt, revokedAt }: TokenFacts): TokenFacts {
  return { id, name, scopes, names, queues, createdAt, lastUsedAt, revokedAt }
}
