import { LIMITS, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SCREENS } from './dashboard/serve.ts'
import { TOKEN, testApi } from './testing/api.ts'
import { DASHBOARD } from './testing/dashboard.ts'
import type { TokenStore } from './tokens.ts'
import type { WebhookEndpoints } from './webhooks.ts'

const NAMES = ['report/daily', '/', 'a//b', '../up', './x', 'a/..', '...', 'a.b', 'a:b', 'v1/jobs', 'x'.repeat(LIMITS.nameLength)]
const NO_NAMES = ['50%', 'a+b', 'a b', '%2F', 'ü', '日本', '\\', 'a?b#c', 'x'.repeat(LIMITS.nameLength + 1)]
const DOTS = ['.', '..']
/** Parameters of paths that are names, by the resource before them. Others are keys, ids and kinds. */
const NAMED = /\/(?:queues|schedules|workers)\/\{(\w+)\}|\/keys\/\{kind\}\/\{(name)\}/

async function routes() {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const uncalled: unknown = Object.fromEntries(
    ['list', 'add', 'enable', 'disable', 'remove', 'create', 'revoke', 'audited'].map((call) => [call, vi.fn()]),
  )
  const on = { webhooks: uncalled as WebhookEndpoints, tokens: uncalled as TokenStore, dashboard: DASHBOARD }
  const { open, operations } = testApi(engine, { token: TOKEN, ...on, basePath: '/queue' })
  const called: unknown[] = []
  for (const each of operations) {
    vi.spyOn(each, 'handle').mockImplementation(({ params }) => {
      called.push({ [each.id]: params })
      return new Response(null, { status: 204 })
    })
  }
  const send = async (method: string, path: string) => {
    const response = await open(method.toUpperCase(), `/queue${path}`)
    return { status: response.status, text: await response.text(), called: called.splice(0) }
  }
  return { engine, operations: operations.filter(({ path }) => path.includes('{')), send }
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string))
}

test('every path takes every name, and refuses what is no name by its parameter', async () => {
  const { operations, send } = await routes()
  const named = operations.filter(({ path }) => NAMED.test(path))
  expect(named.length).toBeGreaterThan(20)
  for (const { id, method, path, body, bodyOptional } of named) {
    const parameter = NAMED.exec(path)?.slice(1).find(Boolean) as string
    const kept = path.includes('{kind}') ? { kind: 'unique', key: '/100%+ü/../k' } : {}
    const others = path.includes('{message}') ? { ...kept, message: 'a/b' } : kept
    for (const name of NAMES) {
      const params = { ...others, [parameter]: name }
      const answer = await send(method, filled(path, params))
      // A body that is required is looked for after the path.
      if (body !== undefined && !bodyOptional) expect(answer.text, `${id} ${name}`).not.toContain('path.')
      else expect(answer, `${id} ${name}`).toEqual({ status: 204, text: '', called: [{ [id]: params }] })
    }
    for (const name of NO_NAMES) {
      const { status, text, called } = await send(method, filled(path, { ...others, [parameter]: name }))
      expect({ status, called, text }, `${id} ${name}`).toEqual({
        status: 400,
        called: [],
        text: expect.stringContaining(`path.${parameter}`),
      })
    }
    for (const name of DOTS) {
      const { called } = await send(method, filled(path, { ...others, [parameter]: name }))
      // URLs have neither in their path, so the request is one for another path: at most for a look at something else.
      expect(
        called.flatMap((each) => Object.keys(each as object)).filter((other) => other === id || method !== 'get'),
        `${id} ${name}`,
      ).toEqual([])
    }
  }
})

test('keys, ids and the names of tokens are what was encoded', async () => {
  const { operations, send } = await routes()
  for (const { id, method, path } of operations.filter((each) => each.body === undefined || each.bodyOptional)) {
    const parameter = /\/(?:jobs|flows|tokens)\/\{(\w+)\}|\{(key)\}/.exec(path)?.slice(1).find(Boolean)
    if (parameter === undefined) continue
    for (const value of [...NAMES.filter((each) => each.length < 100), ...NO_NAMES.slice(0, 8), '%25', '%', '*', ':id']) {
      const others = {
        ...(path.includes('{kind}') && { kind: 'unique', name: 'a/b' }),
        ...(path.includes('{message}') && { message: 'm' }),
      }
      const params = { ...others, [parameter]: value }
      expect((await send(method, filled(path, params))).called, `${id} ${value}`).toEqual([{ [id]: params }])
    }
  }
})

test('every screen of the dashboard is answered for every name', async () => {
  const { send } = await routes()
  for (const screen of SCREENS.filter((path) => path.includes('{'))) {
    for (const value of [...NAMES, ...NO_NAMES])
      expect((await send('get', filled(screen, { id: value, name: value }))).text, value).toContain('<!doctype html>')
  }
})

test('addresses in answers are encoded', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const http = testApi(engine, { token: TOKEN })
  const schedule = { every: '1h', job: 'a/b', options: { queue: 'out/mail' } }
  const made = await http.send('PUT', '/v1/schedules/report%2Fdaily', { body: schedule })
  expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/schedules/report%2Fdaily'])
  const added = await http.send('POST', '/v1/schedules', { body: { id: 'report/weekly', ...schedule } })
  expect([added.status, added.headers.get('location')]).toEqual([201, '/v1/schedules/report%2Fweekly'])
  expect((await http.send('GET', '/v1/schedules?prefix=report%2F&queue=out%2Fmail&name=a/b')).body.schedules).toHaveLength(2)
  expect((await http.send('GET', made.headers.get('location') as string)).body).toMatchObject({ id: 'report/daily' })
  await http.send('POST', '/v1/schedules/report%2Fdaily/trigger')
  expect((await http.send('GET', '/v1/jobs?queue=out%2Fmail')).body.jobs).toHaveLength(1)
  const refused = await http.send('DELETE', '/v1/queues/out%2Fmail')
  expect(refused.body).toMatchObject({ status: 409, detail: expect.stringContaining('POST /v1/queues/out%2Fmail/purge') })
})
