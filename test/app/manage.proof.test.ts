// The commands that are about the daemon: served by `millrace serve`, changed by the others, in force without a restart.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, defineJob } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { HANDLERS, Place } from './millrace.ts'

async function served(place: Place, ...flags: readonly string[]) {
  const daemon = place.start('serve', '--http-port', '0', '--json', ...flags)
  const { url } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { url: string }
  const status = async (path: string, token: string, method = 'GET') =>
    (await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })).status
  return { daemon, url, status }
}

test('a token made on the command line is good at once for what it allows, and revoked it is not', async () => {
  const place = new Place()
  const { status, daemon } = await served(place)
  const { token, id, scopes } = await place.okJson('token', 'create', 'ci', '--scopes', 'read')
  expect(scopes).toEqual(['read'])
  expect(await status('/v1/stats', token as string)).toBe(200)
  expect(await status('/v1/engine/pause', token as string, 'POST')).toBe(403)
  expect((await place.run('token', 'create', 'ci', '--json')).code).toBe(4)
  const { tokens } = (await place.okJson('token', 'list')) as { tokens: { name: string; lastUsedAt: string | null }[] }
  expect(tokens.map(({ name, lastUsedAt }) => [name, lastUsedAt !== null])).toEqual([
    ['admin', false],
    ['ci', true],
  ])
  expect((await place.okJson('audit', '--limit', '1'))['entries']).toMatchObject([
    { at: expect.any(String), who: 'ci', via: 'http', operation: 'pauseEngine', outcome: 'refused', status: 403, code: null, target: {} },
  ])
  expect(await place.ok('audit')).toMatch(
    /^AT +WHO +VIA +OPERATION +OUTCOME +STATUS +TARGET\n\S+ \S+Z +ci +http +pauseEngine +refused +403 +\{\}\n$/,
  )
  await place.ok('token', 'revoke', id as string, '--yes')
  expect(await status('/v1/stats', token as string)).toBe(401)
  expect((await place.run('token', 'revoke', 'nobody', '--json')).code).toBe(3)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})

test('what is set of a queue is in force, and told; a wrong key is met with the nearest', async () => {
  const place = new Place()
  await place.ok('config', 'set', 'concurrency-limit', '3', '--queue', 'media')
  expect(await place.okJson('config', 'get', 'concurrency-limit', '--queue', 'media')).toEqual({
    queue: 'media',
    key: 'concurrency-limit',
    value: 3,
  })
  const { settings } = (await place.okJson('config', 'list', '--queue', 'media')) as { settings: { key: string; value: unknown }[] }
  expect(settings.filter(({ value }) => value !== null)).toEqual([
    { key: 'concurrency-limit', value: 3 },
    { key: 'paused', value: false },
  ])
  const wrong = await place.run('config', 'set', 'concurency-limit', '3')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("did you mean 'concurrency-limit'")])
  expect(await place.ok('config', 'set', 'timeout', 'Infinity', '--queue', 'media')).toBe('timeout of media is Infinity\n')
  expect(await place.ok('config', 'get', 'timeout', '--queue', 'media')).toBe('Infinity\n')
  await place.ok('config', 'set', 'concurrency-limit', 'none', '--queue', 'media')
  expect(await place.okJson('config', 'get', 'concurrency-limit', '--queue', 'media')).toMatchObject({ value: null })
})

test('each setting is shown with where it comes from', async () => {
  const place = new Place()
  const config = join(place.folder, 'own.toml')
  writeFileSync(config, 'durability = "normal"\n[http]\nport = 1234\n[webhooks.secrets]\nmain = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"\n')
  const { settings } = (await place.okJson('config', 'show', '--config', config, '--http-port', '4321')) as {
    settings: { key: string; value: unknown; origin: string; layer: string }[]
  }
  const found = (key: string) => settings.find((setting) => setting.key === key)
  expect(found('durability')).toMatchObject({ value: 'normal', layer: 'file' })
  expect(found('http.port')).toMatchObject({ value: 4321, layer: 'flag' })
  expect(found('http.host')).toMatchObject({ value: '127.0.0.1', layer: 'default' })
  expect(JSON.stringify(settings)).not.toContain('MfKQ')
  const { code, stderr } = await place.run('serve', '--htp-port', '1')
  expect([code, stderr]).toEqual([2, expect.stringContaining("did you mean '--http-port'")])
})

test('a token for work that is bound serves its names and queues only; the list says which', async () => {
  const place = new Place()
  const { daemon } = await served(place)
  const flags = ['--scopes', 'work,read', '--names', 'resize,thumbnail', '--queues', 'media']
  const made = await place.okJson('token', 'create', 'resizer', ...flags)
  expect(made).toMatchObject({ scopes: ['work', 'read'], names: ['resize', 'thumbnail'], queues: ['media'] })
  expect(await place.ok('token', 'list')).toMatch(/ resizer +work,read +names resize,thumbnail queues media +\S+Z/)
  const { code, stderr } = await place.run('token', 'create', 'other', '--scopes', 'enqueue', '--names', 'resize')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^millrace: --names: names binds the scope work, .*\(OPTION_TYPE\)\n$/)])
  const { promise: refused, resolve } = Promise.withResolvers<unknown>()
  const logger = { debug() {}, info() {}, warn() {}, error: (_message: string, fields?: object) => resolve(fields) }
  const engine = await connect(`unix:${place.file}-socket`, { token: made['token'] as string, logger })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const handler = (name: string) => defineJob({ name, queue: 'media' }).handler(() => name)
  const forbidden = engine.work(handler('report'), { queues: ['media'] })
  await expect(forbidden.ready).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await refused).toMatchObject({ error: expect.stringMatching(/job names 'resize', 'thumbnail' only, not 'report'/) })
  engine.work(handler('resize'), { queues: ['media'] })
  expect(await place.ok('enqueue', 'resize', '--queue', 'media', '--wait')).toContain('resize')
  // A worker's process that may not serve its handlers ends, and says why.
  place.env['MILLRACE_TOKEN'] = made['token'] as string
  place.url = `unix:${place.file}-socket`
  const worker = await place.run('worker', 'start', '--handlers', HANDLERS)
  expect([worker.code, worker.stderr]).toEqual([6, expect.stringMatching(/^millrace: this token serves .*\(FORBIDDEN\)$/m)])
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})

test('what needs admin by socket is in the audit, a backup too', async () => {
  const place = new Place()
  const { daemon } = await served(place)
  const { token } = await place.okJson('token', 'create', 'ops')
  const reader = await place.okJson('token', 'create', 'reader', '--scopes', 'read')
  const [engine, other] = await Promise.all(
    [token, reader['token']].map((each) => connect(`unix:${place.file}-socket`, { token: each as string })),
  )
  onTestFinished(() => void Promise.all([engine, other].map((each) => each?.stop({ timeout: 0 }))))
  const file = place.path('copy.db')
  await engine?.backup(file)
  await expect(other?.backup(file)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const entry = { at: expect.any(String), via: 'socket', operation: 'backup', target: { file }, status: null }
  expect((await place.okJson('audit'))['entries']).toEqual([
    { ...entry, who: 'reader', outcome: 'refused', code: 'FORBIDDEN' },
    { ...entry, who: 'ops', outcome: 'done', code: null },
  ])
  expect(await place.ok('audit')).toMatch(/ reader +socket +backup +refused +FORBIDDEN +\{.*\n.* ops +socket +backup +done +- +\{/)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})

test('endpoints are added, told of over HTTP by the daemon, disabled and forgotten', async () => {
  const place = new Place()
  const { url, daemon } = await served(place, '--webhooks-enabled', 'true')
  const { token } = await place.okJson('token', 'create', 'reader', '--scopes', 'read')
  const { token: admin } = await place.okJson('token', 'create', 'ops', '--scopes', 'admin')
  const added = await place.okJson(
    'webhooks',
    'add',
    'billing',
    'https://example.com/hook',
    '--events',
    'completed,failed',
    '--names',
    'pay',
  )
  expect(added).toMatchObject({ id: 'billing', enabled: true, events: ['completed', 'failed'], names: ['pay'] })
  const over = async () => {
    const response = await fetch(`${url}/v1/webhooks`, { headers: { authorization: `Bearer ${token as string}` } })
    return ((await response.json()) as { webhooks: { id: string; enabled: boolean }[] }).webhooks
  }
  expect(await over()).toMatchObject([{ id: 'billing', enabled: true }])
  const headers = { authorization: `Bearer ${admin as string}` }
  expect((await fetch(`${url}/v1/webhooks/billing/test`, { method: 'POST', headers })).status).toBe(202)
  await place.ok('webhooks', 'disable', 'billing', '--yes')
  expect(await over()).toMatchObject([{ id: 'billing', enabled: false }])
  await place.ok('webhooks', 'enable', 'billing', '--replay')
  const { webhooks } = (await place.okJson('webhooks', 'list')) as { webhooks: { id: string; enabled: boolean }[] }
  expect(webhooks).toMatchObject([{ id: 'billing', enabled: true }])
  await place.ok('webhooks', 'delete', 'billing', '--yes')
  expect([(await place.run('webhooks', 'delete', 'billing', '--yes')).code, await over()]).toEqual([3, []])
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})

test('a worker of a configuration runs its commands', async () => {
  const place = new Place()
  const config = join(place.folder, 'own.toml')
  writeFileSync(config, '[exec.greet]\nfile = "/bin/echo"\nargs = ["hello", "{{who}}"]\n')
  const worker = place.start('worker', 'start', '--config', config)
  await worker.said(/is ready: greet/)
  const id = (await place.ok('enqueue', 'greet', '{"who":"ada"}')).trim()
  const { job } = (await place.okJson('jobs', 'show', id)) as { job?: { output?: { stdout: { head: string } } } }
  expect(job ?? (await place.okJson('jobs', 'show', id))).toBeDefined()
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  expect(JSON.stringify(await place.okJson('jobs', 'show', id))).toContain('hello ada')
  const nothing = await place.run('worker', 'start')
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('--config')])
})

test('the document is that of the API, webhooks included', async () => {
  const document = JSON.parse(await new Place().ok('openapi')) as { openapi: string; paths: Record<string, unknown> }
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/jobs', '/v1/webhooks/{id}', '/metrics']))
})
