/** A server that goes away under an open page, and comes back as another process. */
import { dashboardFiles } from '@millrace/dashboard'
import { openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { expect, onTestFinished } from 'vitest'
import { temporaryFile } from '../temporary.ts'
import { TOKENS, test } from './test.ts'

const AWAY = /^console: .*(?:ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 50\d)/
const BANNER = /No answer since \d\d:\d\d:\d\d/

test('while the server is away, the page says since when, keeps what it shows, and recovers', async ({ serveDashboard, guard }) => {
  void guard.expect(AWAY)
  const { enter, engine, server } = await serveDashboard()
  await engine.enqueue('a', {}, { queue: 'before' })
  const page = await enter('/')
  await page.getByRole('link', { name: 'before', exact: true }).last().waitFor()
  await server.stop()
  const banner = page.getByRole('alert').filter({ hasText: BANNER })
  await banner.waitFor()
  expect(await page.getByRole('link', { name: 'before', exact: true }).last().isVisible()).toBe(true)
  await engine.enqueue('a', {}, { queue: 'meanwhile' })
  await server.start()
  await banner.getByRole('button', { name: 'Try now' }).click()
  await banner.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'meanwhile', exact: true }).last().waitFor()
})

test('a page that nobody touches finds the server by itself, and asks less often until then', async ({ serveDashboard, guard }) => {
  void guard.expect(AWAY)
  const { enter, engine, server } = await serveDashboard()
  await engine.enqueue('a')
  const page = await enter('/', { own: true })
  await page.getByRole('row').nth(1).waitFor()
  await page.clock.install()
  await page.reload()
  await page.getByRole('row').nth(1).waitFor()
  await server.stop()
  const tries: string[] = []
  page.on('requestfailed', (request) => tries.push(request.url()))
  const minute = async () => {
    const before = tries.length
    for (let second = 0; second < 60; second += 2) await page.clock.runFor(2_000)
    return tries.slice(before).filter((url) => url.includes('/v1/stats')).length
  }
  await minute()
  await page.getByRole('alert').filter({ hasText: BANNER }).waitFor()
  await minute()
  // The rate is 30 questions a minute.
  expect(await minute()).toBeLessThanOrEqual(3)
  await server.start()
  await page.clock.fastForward('02:00')
  await page.getByRole('alert').filter({ hasText: BANNER }).waitFor({ state: 'detached' })
})

test('the engine is restarted under an open page: the session stays, and the page shows the new one', async ({ serveDashboard, guard }) => {
  void guard.expect(AWAY)
  const file = temporaryFile()
  const sessionSecret = 'a-secret-that-outlives-a-process'
  const first = await openEngine({ file })
  const { enter, server } = await serveDashboard({ engine: first, http: { sessionSecret } })
  await first.enqueue('a', {}, { queue: 'before' })
  const page = await enter('/')
  await page.getByRole('link', { name: 'before', exact: true }).last().waitFor()
  await first.stop({ timeout: 0 })
  await page.getByRole('alert').filter({ hasText: BANNER }).waitFor()
  const second = await openEngine({ file })
  onTestFinished(() => second.stop({ timeout: 0 }))
  await second.enqueue('a', {}, { queue: 'after' })
  server.answer = createHttp(second, { token: TOKENS, sessionSecret, dashboard: { files: await dashboardFiles() } }).fetch
  await page.getByRole('link', { name: 'after', exact: true }).last().waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'before', exact: true }).last().isVisible()).toBe(true)
})
