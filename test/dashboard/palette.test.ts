/** The palette: any job, queue, name or text by the keyboard alone. */
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { FEW, fill } from './fill.ts'
import { test } from './test.ts'

const PALETTE = 'Search or jump to'

test('did the job of customer X run? /, type, Enter', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine, FEW)
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await task(page, { clicks: 0, keys: 2 }, async (user) => {
    await user.press('/')
    await user.type('customer-7')
    await user.press('Enter')
    await page.waitForURL((url) => url.pathname === '/jobs')
  })
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('customer-7')
})

test('an id leads to its job, a name to its queue, and Escape back', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: PALETTE }).fill(ids.failed.toUpperCase())
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/jobs/${ids.failed}`)
  await page.goBack()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('billing')
  await page.getByRole('option', { name: 'billing Queue' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/queues/billing')
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: PALETTE }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => page.url()).toContain('/queues/billing')
})

test('commands of the frame are there too, and the palette is accessible', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine, FEW)
  const page = await enter('/')
  await page.getByRole('button', { name: PALETTE }).click()
  await page.getByRole('option', { name: 'Overview Page' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.type('new')
  await page.getByRole('option', { name: 'New job Command' }).click()
  await page.getByRole('dialog', { name: 'New job' }).getByLabel('Job name').waitFor()
  await page.keyboard.press('Escape')
  // The dialog is hidden before the page knows that it was closed.
  await page.waitForURL((url) => !url.searchParams.has('new'))
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: PALETTE }).waitFor()
  await page.keyboard.type('dark')
  await page.getByRole('option', { name: 'Theme: Dark Command' }).click()
  await page.locator('html[data-theme=dark]').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})
