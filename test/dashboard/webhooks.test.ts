/** The webhooks: which fail, and how to turn one off and on. */
import type { HttpOptions } from '@millrace/http'
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

type Endpoints = NonNullable<HttpOptions['webhooks']>
type Endpoint = Awaited<ReturnType<Endpoints['list']>>[number]

function endpointsOf(...ids: readonly string[]) {
  const known = new Map<string, Endpoint>(
    ids.map((id) => [id, { id, url: `https://example.com/${id}`, events: ['failed'], enabled: true, createdAt: new Date(0), cursor: 0 }]),
  )
  const calls: unknown[] = []
  const change = (id: string, changes: Partial<Endpoint>) => void known.set(id, { ...(known.get(id) as Endpoint), ...changes })
  const endpoints: Endpoints = {
    list: async () => [...known.values()],
    add: async () => Promise.reject(new Error('nothing is added here')),
    enable: async (id, options) => {
      calls.push([id, options])
      change(id, { enabled: true })
    },
    disable: async (id) => change(id, { enabled: false }),
    test: async (id) => `${calls.push(['test', id])}`,
    remove: async () => false,
  }
  return { endpoints, known, calls, change }
}

test('disable an endpoint in three clicks, and enable it with what it missed in two', async ({ serveDashboard }) => {
  const { endpoints, known, calls } = endpointsOf('billing', 'bystander')
  const { enter } = await serveDashboard({ http: { webhooks: endpoints } })
  const page = await enter('/webhooks')
  const row = page.getByRole('row').filter({ hasText: 'billing' })
  await row.getByText('enabled').waitFor()
  await expectAccessible(page)
  await task(page, 3, async (user) => {
    await user.click(row.getByRole('button', { name: 'Actions of billing' }))
    await user.click(page.getByRole('button', { name: 'Disable…' }).first())
    await user.click(page.getByRole('dialog', { name: 'Disable billing' }).getByRole('button', { name: 'Disable' }))
    await row.getByText('disabled').waitFor()
  })
  expect([...known.values()].map(({ enabled }) => enabled)).toEqual([false, true])
  await task(page, 2, async (user) => {
    await user.click(row.getByRole('button', { name: 'Actions of billing' }))
    await user.click(page.getByRole('button', { name: 'Enable, and replay what it missed' }))
    await row.getByText('enabled').waitFor()
  })
  expect(calls).toEqual([['billing', { replay: true }]])
})

test('send a test in two clicks, and look at the deliveries of this endpoint in two more', async ({ serveDashboard }) => {
  const { endpoints, calls } = endpointsOf('billing', 'bystander')
  const { enter } = await serveDashboard({ http: { webhooks: endpoints } })
  const page = await enter('/webhooks')
  const actions = page.getByRole('button', { name: 'Actions of billing' })
  await task(page, 2, async (user) => {
    await user.click(actions)
    await user.click(page.getByRole('button', { name: 'Send a test' }).first())
    await page.getByText('A test is on its way to billing: see its deliveries.').waitFor()
  })
  expect(calls).toEqual([['test', 'billing']])
  await actions.click()
  await page.getByRole('link', { name: 'Deliveries', exact: true }).first().click()
  await page.waitForURL(/\/jobs\?q=queue%3Awebhooks(?:%20|\+)tag%3Aendpoint%3Abilling$/)
})

test('a token that may only read sees endpoints, and no buttons; on a phone, too', async ({ serveDashboard }) => {
  const { endpoints, change } = endpointsOf('billing', 'late')
  change('late', { failingSince: new Date(), url: `https://example.com/${'x'.repeat(300)}` })
  const { enter } = await serveDashboard({ http: { webhooks: endpoints } })
  const page = await enter('/webhooks', { as: 'read', viewport: { width: 390, height: 844 } })
  await page.getByText(/failing since/).waitFor()
  // Worst first.
  expect(await page.locator('tbody td:first-child').allTextContents()).toEqual(['late', 'billing'])
  await page.getByRole('button', { name: 'Actions of billing' }).click()
  await page.getByRole('link', { name: 'Failed deliveries' }).waitFor()
  expect(await page.getByRole('button', { name: /Disable|Enable/ }).count()).toBe(0)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})

test('none yet, and none at all: what to do', async ({ serveDashboard }) => {
  const none = await serveDashboard({ http: { webhooks: endpointsOf().endpoints } })
  const page = await none.enter('/webhooks')
  await page.getByText('millrace webhooks add').waitFor()
  await expectAccessible(page)
  const off = await serveDashboard()
  await (await off.enter('/webhooks')).getByText('Webhooks are off').waitFor()
})
