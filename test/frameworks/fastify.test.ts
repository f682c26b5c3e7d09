// @millrace/fastify in apps of Fastify: options, the mounted API, and the order of a close.
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import plugin, { type MillracePluginOptions, millrace } from '@millrace/fastify'
import { createTestEngine } from '@millrace/testkit'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

const TOKEN = 'test-token-0123456789abcdef'
const AUTH = { authorization: `Bearer ${TOKEN}` }
const double = defineJob<number, number>({ name: 'double' })

function newApp(): FastifyInstance {
  const app = Fastify()
  onTestFinished(() => app.close())
  return app
}

test('the plugin is the default export too, as plugins of Fastify are', () => expect(plugin).toBe(millrace))

test('running jobs finish when the app closes, before plugins that were registered earlier end', async () => {
  const said: string[] = []
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const file = temporaryFile()
  const app = newApp()
  app.addHook('onClose', () => void said.push('database closed'))
  await app.register(millrace, { file, logLevel: 'warn' } as MillracePluginOptions)
  app.millrace.work(
    double.handler(async ({ data }) => {
      begun.resolve()
      await go.promise
      said.push('ran')
      return 2 * data
    }),
  )
  const handle = await app.millrace.enqueue(double, 21)
  await begun.promise
  const closed = app.close()
  go.resolve()
  await closed
  expect(said).toEqual(['ran', 'database closed'])
  await expect(app.millrace.stats()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await using next = await openEngine({ file })
  expect(await next.get(handle.id)).toMatchObject({ state: 'completed', output: 42, attempt: 1 })
})

test.each([
  ['', '/queue'],
  ['/internal', '/queue'],
  ['/internal', '/'],
  ['', undefined],
])('the API below the prefix %j, at the path %j; streams of events do not hold up a close', async (prefix, path) => {
  const app = newApp()
  const base = `${prefix}${path ?? '/'}`.replace(/\/$/, '')
  await app.register(
    async (scope) => {
      await scope.register(millrace, { file: temporaryFile(), http: { token: TOKEN, ...(path !== undefined && { basePath: path }) } })
      scope.get('/app', () => 'an app')
    },
    { prefix },
  )
  const origin = await app.listen({ port: 0 })
  const body = '{"job":"a","data":"é"}'
  const made = await fetch(`${origin}${base}/v1/jobs`, { method: 'POST', headers: { ...AUTH, 'content-type': 'application/json' }, body })
  expect(made.status).toBe(201)
  const location = made.headers.get('location') as string
  expect(await (await fetch(`${origin}${location}`, { headers: AUTH })).json()).toMatchObject({ state: 'waiting', data: 'é' })
  expect((await fetch(`${origin}${base}/v1/jobs`)).status).toBe(401)
  expect((await fetch(`${origin}${base}/`)).status).toBe(200)
  // The API answers its own path, too, as it does everywhere.
  if (base !== '') expect((await fetch(`${origin}${base}`)).headers.get('content-type')).toBe('application/problem+json')
  expect(await (await fetch(`${origin}${prefix}/app`)).text()).toBe('an app')

  const events = await fetch(`${origin}${base}/v1/events`, { headers: AUTH })
  const reader = (events.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  await app.close()
  const drained = async () => {
    while (!(await reader.read()).done);
  }
  await expect(drained()).rejects.toThrow('terminated')
})

test('an engine that is open, and several engines in plugins of their own', async () => {
  const given = createTestEngine()
  const app = newApp()
  const seen: Engine[] = []
  await app.register(async (scope) => {
    await scope.register(millrace, { engine: given.engine })
    seen.push(scope.millrace)
  })
  await app.register(async (scope) => {
    await scope.register(millrace, { file: temporaryFile() })
    seen.push(scope.millrace)
  })
  expect(seen[0]).toBe(given.engine)
  expect(seen[1]).not.toBe(given.engine)
  expect(app.hasDecorator('millrace')).toBe(false)
  await app.close()
  await expect(given.engine.stats()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('what is wrong is said, with what to do', async () => {
  const refused = async (options: object, before = async (_app: FastifyInstance) => {}) => {
    const app = newApp()
    await before(app)
    return (async () => app.register(millrace, options as MillracePluginOptions))().then(
      () => undefined,
      (error: unknown) => error,
    )
  }
  const wrong = (message: RegExp) => ({ name: 'OptionTypeError', message: expect.stringMatching(message) })
  expect(await refused({ file: temporaryFile(), durabilty: 'full' })).toMatchObject(wrong(/did you mean 'durability'/))
  expect(await refused({})).toMatchObject(wrong(/file/))
  expect(await refused({ file: temporaryFile(), shutdownTimeout: 'soon' })).toMatchObject({ code: expect.stringContaining('OPTION') })
  expect(await refused({ file: temporaryFile(), prefix: '/queue' })).toMatchObject(wrong(/give http\.basePath/))
  expect(await refused({ file: temporaryFile(), http: {} })).toMatchObject(wrong(/createHttp needs a token/))
  expect(await refused({ engine: {} })).toMatchObject(wrong(/engine must be the result of openEngine or connect/))
  const twice = await refused({ file: temporaryFile() }, async (app) => void (await app.register(millrace, { file: temporaryFile() })))
  expect(twice).toMatchObject(wrong(/has an engine already/))
})
