import { openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { TOKEN, testApi } from './testing/api.ts'

test('each operation is found by what it answers, below the path that it is mounted at', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const { api, operations } = testApi(engine, { token: TOKEN, basePath: '/queue' })
  const routeOf = (method: string, path: string) => api.routeOf(new Request(`http://localhost${path}`, { method }))
  for (const { method, path } of operations) {
    const concrete = path.replaceAll(/\{\w+\}/g, 'a%20b')
    expect(routeOf(method.toUpperCase(), `/queue${concrete}?a=1`)).toBe(`/queue${path}`)
    if (method === 'get') expect(routeOf('HEAD', `/queue${concrete}`)).toBe(`/queue${path}`)
  }
  expect(routeOf('GET', '/v1/jobs')).toBeUndefined()
  expect(routeOf('PUT', '/queue/v1/jobs')).toBeUndefined()
  expect(routeOf('GET', '/queue/v1/jobs/a/b')).toBeUndefined()
})
