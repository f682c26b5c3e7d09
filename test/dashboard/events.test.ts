/** The events: as they happen, filtered by the server, with one stream at most. */
import { defineJob } from '@millrace/engine'
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

const streams = (asked: readonly { readonly path: string }[]) =>
  asked.filter(({ path }) => path.startsWith('/v1/events')).map(({ path }) => path)

test('events show up as they happen, the newest first, and lead to their jobs', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const before = await engine.enqueue('before')
  const page = await enter('/events')
  const rows = page.getByRole('region', { name: 'Events, the newest first' }).locator('tbody tr')
  // The list begins with what has just happened.
  await rows.filter({ hasText: 'before' }).waitFor()
  const hostile = '<img src=x onerror=alert(1)>'
  engine.work([
    defineJob({ name: 'send', maxAttempts: 1 }).handler(() => Promise.reject(Object.assign(new Error('no'), { name: hostile }))),
  ])
  const { id } = await engine.enqueue('send')
  const failed = rows.filter({ hasText: 'failed' })
  await failed.getByText(hostile).waitFor()
  expect(await rows.locator('td:nth-child(2)').allTextContents()).toEqual(['failed', 'started', 'enqueued', 'worker.attached', 'enqueued'])
  expect(await failed.getByRole('link', { name: 'send' }).getAttribute('href')).toBe(`/jobs/${id}`)
  expect(await rows.last().getByRole('link', { name: 'before' }).getAttribute('href')).toBe(`/jobs/${before.id}`)
  await expectAccessible(page)
})

test('a filter is in the address, and the server applies it', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  const page = await enter('/events')
  await page.getByText('No events yet').waitFor()
  await page.getByRole('combobox', { name: 'Type' }).selectOption('enqueued')
  await page.getByRole('combobox', { name: 'Queue' }).fill('mail')
  await page.keyboard.press('Enter')
  await server.until(/events\?after=0&types=enqueued&queue=mail$/, 0)
  await expect.poll(() => new URL(page.url()).search).toBe('?type=enqueued&queue=mail')
  await engine.enqueue('bystander', 1, { queue: 'other' })
  await engine.enqueue('mine', 1, { queue: 'mail' })
  await page.getByRole('link', { name: 'mine' }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
  await page.reload()
  await page.getByRole('link', { name: 'mine' }).waitFor()
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Clear the filter' })))
  await page.getByRole('link', { name: 'bystander' }).waitFor()
})

test('what is typed into a filter stays while the page shows something new', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const page = await enter('/events')
  await page.getByText('No events yet').waitFor()
  const queue = page.getByRole('combobox', { name: 'Queue' })
  await queue.fill('mail')
  await page.getByRole('combobox', { name: 'Type' }).selectOption('enqueued')
  await page.waitForURL(/type=enqueued/)
  await engine.enqueue('mine', 1, { queue: 'mail' })
  await page.getByRole('link', { name: 'mine' }).waitFor()
  expect(await queue.inputValue()).toBe('mail')
})

test('a filter that is typed and taken back shows what is in force afterwards', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/events?queue=mail')
  const queue = page.getByRole('combobox', { name: 'Queue' })
  await queue.press('End')
  await queue.press('s')
  await queue.press('Backspace')
  await queue.press('Tab')
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.waitForURL(/\/events$/)
  expect(await queue.inputValue()).toBe('')
})

test('paused by a key, and resumed where it was: nothing is missed, and nothing comes twice', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  await engine.enqueue('one')
  const page = await enter('/events', { as: 'read' })
  await page.getByRole('link', { name: 'one' }).waitFor()
  await task(page, { clicks: 0, keys: 1 }, (user) => user.press('p'))
  await page.getByText(/^Paused/).waitFor()
  await engine.enqueue('two')
  await engine.enqueue('three')
  expect(await page.locator('tbody tr').count()).toBe(1)
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Resume' })))
  await page.getByRole('link', { name: 'three' }).waitFor()
  expect(await page.locator('tbody tr td:nth-child(3) .strong').allTextContents()).toEqual(['three', 'two', 'one'])
  expect(streams(server.asked)).toEqual(['/v1/events?after=0', '/v1/events?after=1'])
})

test('a tab that is not seen closes its stream, and continues behind the last event', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  await engine.enqueue('one')
  const page = await enter('/events')
  await page.getByRole('link', { name: 'one' }).waitFor()
  const hide = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await hide(true)
  await engine.enqueue('two')
  await hide(false)
  await page.getByRole('link', { name: 'two' }).waitFor()
  expect(streams(server.asked)).toEqual(['/v1/events?after=0', '/v1/events?after=1'])
})

test('on a phone it is as wide as the phone, and accessible', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await engine.enqueue('a-job-with-a-rather-long-name-that-does-not-fit', 1, { queue: 'q'.repeat(100) })
  const page = await enter('/events', { viewport: { width: 390, height: 844 } })
  await page.getByRole('link', { name: /rather-long/ }).waitFor()
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})
