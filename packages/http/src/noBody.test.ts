/** An operation that takes no body refuses one: an option that it passed over would do more than its sender meant. */
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
let stopped = 0
let http: ReturnType<typeof testApi>
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine, { token: TOKEN, control: { stop: () => stopped++ } })
})
afterAll(() => engine.stop())
beforeEach(() => engine.schedules.upsert('nightly', { every: '1d' }, { job: 'report' }))

const JSON_TYPE = { 'content-type': 'application/json' }
const refusal = (option: string, detail: string) => ({
  status: 400,
  body: { code: 'VALIDATION', option, detail, errors: [{ path: option, message: detail.slice(option.length + 1) }] },
})

test.each([
  ['POST', '/v1/engine/pause', 'for', '1s'],
  ['POST', '/v1/schedules/nightly/pause', 'for', '1h'],
  ['DELETE', '/v1/schedules/nightly', 'dryRun', true],
])('%s %s with an option does nothing', async (method, path, option, value) => {
  const detail = `body.${option} is unknown: this operation takes no body`
  expect(await http.send(method, path, { body: { [option]: value } })).toMatchObject(refusal(`body.${option}`, detail))
  expect((await engine.stats()).paused).toBe(false)
  expect(await engine.schedules.get('nightly')).toMatchObject({ paused: false })
})

test('each one that takes none refuses all but nothing and {}', async () => {
  const without = http.operations.filter(({ method, body, stream }) => method !== 'get' && body === undefined && stream === undefined)
  expect(without.map(({ id }) => id)).toEqual(expect.arrayContaining(['pauseEngine', 'stopEngine', 'deleteJob', 'deleteQueue', 'runJob']))
  for (const { id, method, path } of without) {
    const send = (sent?: object) => http.send(method.toUpperCase(), path.replace('{kind}', 'unique').replaceAll(/\{\w+\}/g, 'none'), sent)
    const none = 'this operation takes no body'
    expect(await send({ body: { x: 1, y: 2 } }), id).toMatchObject({
      status: 400,
      body: { detail: `body.x is unknown: ${none}`, errors: [{ path: 'body.x' }, { path: 'body.y' }] },
    })
    for (const [raw, got] of [
      ['[]', 'an array'],
      ['null', 'null'],
      ['"x"', '"x"'],
    ] as const)
      expect((await send({ raw, headers: JSON_TYPE })).body.detail, id).toBe(`body must be empty or {}, got ${got}: ${none}`)
    expect(await send({ raw: '{', headers: JSON_TYPE }), id).toMatchObject({ status: 400, body: { code: 'MALFORMED' } })
    expect(await send({ raw: '{}' }), id).toMatchObject({ status: 415 })
    expect(await send({ raw: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }), id).toMatchObject({ status: 415 })
    expect(stopped, id).toBe(0)
    for (const sent of [
      undefined,
      { body: {} },
      { raw: '', headers: JSON_TYPE },
      { raw: new Blob([]).stream(), headers: { 'content-type': 'text/plain' } },
    ]) {
      const { status, body } = await send(sent)
      expect([400, 415], `${id}: ${body?.detail}`).not.toContain(status)
    }
    stopped = 0
  }
})
