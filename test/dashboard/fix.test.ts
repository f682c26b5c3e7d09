/** docs/dashboard.md, "Find a failure, and fix it", step by step: a bug in a handler, and a service that does not answer. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineJob, type Engine } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

interface Order {
  readonly order: number
  readonly address?: { readonly street: string }
}

const options = { maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } } as const
const invoice = defineJob<Order, string>({ name: 'invoice', queue: 'billing', ...options })
const charge = defineJob<Order, unknown>({ name: 'charge', queue: 'payments', ...options })
const ORDERS = 10
/** Each fifth order has no address. */
const BROKEN = 2
const MIN_MS = 60_000

test('two failures are understood and fixed: all is well', async ({ serveDashboard }) => {
  const { engine, clock } = createTestEngine({ now: new Date(Date.now() - MIN_MS) })
  const service = await startService()
  onTestFinished(() => void service.close())
  const { port } = service.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const buggy = engine.work([invoice.handler(({ data }) => (data.address as { street: string }).street), chargeBy(url)])
  await stop(service)
  await enqueueOrders(engine)
  await clock.advance(MIN_MS)

  const { enter } = await serveDashboard({ engine })
  const page = await enter('/')
  const problems = page.getByRole('region', { name: 'Needs attention' }).locator('.problem')
  const group = page.getByRole('complementary', { name: 'Error' })
  const show = (what: string) => problems.filter({ hasText: what }).getByRole('link', { name: 'Show' })

  // 1, 2: what fails, and why.
  await problems.filter({ hasText: `in payments / charge: the last ${ORDERS * 2} runs failed, ${ORDERS} jobs permanently` }).waitFor()
  await task(page, 1, (user) => user.click(show('payments / charge')))
  await group.getByText(`[cause]: Error: connect ECONNREFUSED 127.0.0.1:${port}`).waitFor()
  await page.goBack()
  await task(page, 1, (user) => user.click(show('billing / invoice')))
  await group.getByText("Cannot read properties of undefined (reading 'street')").waitFor()
  expect(await group.locator('.own').first().textContent()).toContain('fix.test.ts')

  // 3: with which data.
  await task(page, 2, async (user) => {
    await user.click(group.getByRole('link', { name: 'Show failed jobs' }))
    await page.getByText(`${BROKEN} jobs`).waitFor()
    await user.click(page.getByRole('row').nth(1).getByRole('cell').last())
  })
  await page
    .getByRole('complementary')
    .getByText(/^order: \d+$/)
    .waitFor()

  // 4, 5: fix both, and retry those.
  await buggy.stop()
  await startService(port).then((back) => onTestFinished(() => stop(back)))
  engine.work([invoice.handler(({ data }) => data.address?.street ?? 'no address'), chargeBy(url)])
  await page.getByRole('link', { name: 'Overview' }).click()
  await retry(page, 'billing / invoice', BROKEN)
  await retry(page, 'payments / charge', ORDERS)
  await expect.poll(async () => (await engine.stats()).states).toMatchObject({ failed: 0, completed: ORDERS * 2 })

  // 6: all is well, and the last run that failed is a minute ago.
  await page.getByText('All is well').waitFor()
})

async function retry(page: Page, where: string, jobs: number): Promise<void> {
  const problem = page.getByRole('region', { name: 'Needs attention' }).locator('.problem').filter({ hasText: where })
  const dialog = page.getByRole('dialog', { name: 'Retry jobs' })
  await task(page, 3, async (user) => {
    await user.click(problem.getByRole('button', { name: 'Retry…' }))
    await dialog.getByText(`${jobs} failed jobs of ${where} with TypeError, such as`).waitFor()
    await user.click(dialog.getByRole('button', { name: `Retry ${jobs}`, exact: true }))
    await dialog.getByText(`${jobs} retried`).waitFor()
    await user.click(dialog.getByRole('button', { name: 'Done' }))
  })
}

function chargeBy(url: string) {
  return charge.handler(async ({ data }) => (await fetch(`${url}/charge/${data.order}`, { method: 'POST' })).json())
}

async function enqueueOrders(engine: Engine): Promise<void> {
  const orders = Array.from({ length: ORDERS }, (_, order) => ({
    order,
    ...(order % 5 > 0 && { address: { street: `Mill Lane ${order}` } }),
  }))
  const handles = await engine.enqueueMany(orders.flatMap((order) => [invoice.job(order), charge.job(order)]))
  await Promise.allSettled(handles.map((handle) => handle.result()))
}

async function startService(port = 0): Promise<Server> {
  const server = createServer((_request, response) => response.end('{"paid":true}')).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
