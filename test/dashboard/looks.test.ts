/** The benchmark of an open overview asks what the page asks. */
import { expect } from 'vitest'
import { OVERVIEW_LOOKS } from '../../bench/src/overviewLooks.ts'
import { fill } from './fill.ts'
import { test } from './test.ts'

test('an open overview asks the questions that the benchmark asks, and no others', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  await page.getByRole('row').nth(3).waitFor()
  for (const { path } of OVERVIEW_LOOKS) await server.until(new RegExp(`^GET ${path.replace(/\?.*/, '')}\\b`), 0)
  const normal = (path: string) => {
    const { pathname, searchParams } = new URL(path, 'http://localhost')
    searchParams.delete('from')
    searchParams.sort()
    return `${pathname}?${searchParams}`
  }
  const asked = server.asked.filter(({ method, path }) => method === 'GET' && /^\/v1\/(?!session|info)/.test(path))
  expect([...new Set(asked.map(({ path }) => normal(path)))].toSorted()).toEqual(OVERVIEW_LOOKS.map(({ path }) => normal(path)).toSorted())
})
