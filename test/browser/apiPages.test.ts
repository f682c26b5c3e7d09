/** The pages of the HTTP API, as a browser shows them. */
import { createHttp } from '@millrace/http'
import { expect, onTestFinished } from 'vitest'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { expectAccessible } from './accessible.ts'
import { serve } from './serve.ts'
import { task } from './task.ts'
import { test } from './test.ts'

const TOKEN = 'test-token-0123456789abcdef'

async function serveApi(): Promise<string> {
  const engine = openInThread()
  onTestFinished(() => engine.stop())
  return serve(createHttp(engine, { token: TOKEN }).fetch)
}

test('the start page leads to the docs', async ({ visit }) => {
  const page = await visit(`${await serveApi()}/`)
  await expectAccessible(page)
  await task(page, 1, (user) => user.click(page.getByRole('link', { name: '/docs' })))
  expect(new URL(page.url()).pathname).toBe('/docs')
})

test('the docs show what an operation takes', async ({ visit }) => {
  const page = await visit(`${await serveApi()}/docs`)
  const body = page.locator('#enqueue').getByRole('link', { name: 'NewJob' })
  expect(await body.isVisible()).toBe(false)
  await task(page, 1, (user) => user.click(page.locator('#enqueue > summary')))
  expect(await body.isVisible()).toBe(true)
})

test.for(['/', '/docs'])('%s, all of it open: accessible, and as wide as a phone', async (path, { visit }) => {
  const page = await visit(`${await serveApi()}${path}`, { viewport: { width: 390, height: 844 } })
  await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
  await expectAccessible(page)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
})
