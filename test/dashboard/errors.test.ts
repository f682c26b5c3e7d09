/** The groups of failures: why jobs fail, and stop the bleeding. */
import { expect } from 'vitest'
import { DESK, expectFitting } from '../browser/fitting.ts'
import { task } from '../browser/task.ts'
import { COUNTS, FEW, fill } from './fill.ts'
import { test } from './test.ts'

test('why do they fail? One click from the overview: the group, the message, the stack and the last job', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  const problem = page.getByRole('region', { name: 'Needs attention' }).locator('.problem').filter({ hasText: 'PaymentDeclined' })
  await task(page, 1, (user) => user.click(problem.getByRole('link', { name: 'Show' })))
  const group = page.getByRole('complementary', { name: 'Error' })
  await group.getByText(`${COUNTS.declined} runs failed like this`).waitFor()
  await group.getByText(/card ending \d+ declined/).waitFor()
  await group
    .getByText(/^\s+at /)
    .first()
    .waitFor()
  await task(page, 1, (user) => user.click(group.getByRole('link', { name: 'Show failed jobs' })))
  await page.getByText(`${COUNTS.declined} jobs`).waitFor()
})

test('since when, and how often? No click: each group has its last 24 hours', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/errors')
  const row = page.getByRole('row').filter({ hasText: 'PaymentDeclined' })
  await row.getByRole('img', { name: `${COUNTS.declined} runs in 24 h, at most` }).waitFor()
})

test('it is fixed: retry those jobs in two clicks, and no others', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/errors')
  await page.getByRole('row').filter({ hasText: 'PaymentDeclined' }).click()
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('button', { name: `Retry ${COUNTS.declined}…` }))
    const dialog = page.getByRole('dialog', { name: 'Retry jobs' })
    await user.click(dialog.getByRole('button', { name: `Retry ${COUNTS.declined}`, exact: true }))
    await dialog.getByText(`${COUNTS.declined} retried`).waitFor()
  })
  const runs = async (queue: string) => (await engine.list({ queue, state: 'failed' })).jobs.map(({ run }) => run)
  await expect.poll(async () => new Set(await runs('billing'))).toEqual(new Set([2]))
  expect(new Set(await runs('mail'))).toEqual(new Set([1]))
})

test('stop the bleeding: the jobs of that name are paused, the others of the queue go on', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/errors')
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('row').filter({ hasText: 'PaymentDeclined' }))
    await user.click(page.getByRole('button', { name: 'Pause charge' }))
    await page.getByText('charge in billing is paused.').waitFor()
  })
  expect(await engine.queues.get('billing')).toMatchObject({ paused: false, pausedJobs: ['charge'] })
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Resume charge' })))
  await page.getByRole('button', { name: 'Pause charge' }).waitFor()
  expect((await engine.queues.get('billing'))?.pausedJobs).toEqual([])
})

test('groups are filtered by what is typed, and walked by the keyboard', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/errors', { as: 'read' })
  const rows = page.locator('tr[data-group]')
  await rows.first().waitFor()
  const all = await rows.count()
  await page.getByLabel('Filter errors').fill('queue:mail')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByLabel('Filter errors').fill('')
  await expect.poll(() => rows.count()).toBe(all)
  await page.keyboard.press('Escape')
  await task(page, { clicks: 0, keys: 2 }, async (user) => {
    await user.press('j')
    await user.press('j')
  })
  expect(await rows.nth(1).getAttribute('aria-selected')).toBe('true')
  expect(await page.getByRole('button', { name: /^Pause (?!live)/ }).count()).toBe(0)
})

test('is accessible in light and dark, and as wide as its window: 1280 and 390 px', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine, FEW)
  const page = await enter('/errors', { viewport: DESK })
  await page.locator('tr[data-group]').first().waitFor()
  await expectFitting(page, 'the list')
  await page.setViewportSize(DESK)
  await page.keyboard.press('j')
  await page
    .getByRole('complementary', { name: 'Error' })
    .getByText(/^\s+at /)
    .first()
    .waitFor()
  await expectFitting(page, 'a group beside the list')
})
