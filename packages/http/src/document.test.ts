import { readFileSync } from 'node:fs'
import { openEngine } from '@millrace/engine'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, onTestFinished, test } from 'vitest'
import { SCREENS } from './dashboard/serve.ts'
import type { HttpOptions } from './options.ts'
import { TOKEN, testApi } from './testing/api.ts'
import type { WebhookEndpoints } from './webhooks.ts'

const uncalled = () => Promise.reject(new Error('a document asks for no endpoints'))
const webhooks: WebhookEndpoints = { list: uncalled, add: uncalled, enable: uncalled, disable: uncalled, remove: uncalled }

test.each<[string, Partial<HttpOptions>]>([
  ['without endpoints', {}],
  ['with endpoints and sockets', { webhooks, sockets: () => [] }],
])('M11: the document is OpenAPI 3.1, and has every operation once: %s', async (_what, options) => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const { api, operations } = testApi(engine, { token: TOKEN, ...options })
  expect(operations.some(({ tag }) => tag === 'webhooks')).toBe('webhooks' in options)
  const document = api.document()
  const validator = new Validator()
  const checked = await validator.validate(JSON.parse(JSON.stringify(document)))
  expect(checked.errors ?? []).toEqual([])
  expect(checked.valid).toBe(true)
  expect(validator.version).toBe('3.1')
  const ids = Object.values(document.paths ?? {}).flatMap((methods) =>
    Object.values(methods).map(({ operationId }: { operationId: string }) => operationId),
  )
  expect(ids.toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  for (const { method, path, scope } of operations) {
    const { security } = (document.paths as Record<string, Record<string, { security: unknown[] }>>)[path]?.[method] ?? {}
    expect(security, path).toEqual(scope === undefined ? [] : [{ token: [] }])
  }
})

test('docs/http.md has every route, with its scope, and no other; and every screen', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const text = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (\S+)` \| (\w*) ?\|/gm)].map(
    ([, method, path, scope]) => `${method} ${path} ${scope}`,
  )
  const routes = testApi(engine, { token: TOKEN, sockets: () => [] }).operations.map(
    ({ method, path, scope = '' }) => `${method.toUpperCase()} ${path} ${scope}`,
  )
  expect(rows.toSorted()).toEqual(routes.toSorted())
  const [, screens = ''] = /^\| (`\/`, .*) \| `\/index\.html`/m.exec(text) ?? []
  expect(screens.replaceAll('`', '').split(', ')).toEqual(SCREENS)
})
