/** The list of jobs: found by state, by a filter, by a search and by the keyboard alone. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { DESK, expectFitting } from '../browser/fitting.ts'
import { task } from '../browser/task.ts'
import { COUNTS, FEW, fill } from './fill.ts'
import { test } from './test.ts'

/** The first job of a flow waits, too. */
const WAITING = COUNTS.paused + COUNTS.unserved + 1

const rowsOf = (page: Page) => page.getByRole('table').locator('tbody tr')
const queryOf = (page: Page) => page.getByRole('combobox', { name: 'Filter jobs' })

test('tabs are the states with their numbers, and the address is all of what is seen', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs')
  await task(page, 1, (user) => user.click(page.getByRole('link', { name: `Failed ${COUNTS.declined + COUNTS.bounced}` })))
  await page
    .getByText(/card ending \d+ declined/)
    .first()
    .waitFor()
  // The list of all jobs has such a row, too.
  await expect.poll(() => rowsOf(page).count()).toBe(COUNTS.declined + COUNTS.bounced)
  await expect.poll(() => new URL(page.url()).search).toBe('?state=failed')
  await queryOf(page).fill('queue:mail ')
  await page.getByText(`${COUNTS.bounced} jobs`).first().waitFor()
  const colleague = await enter(`/jobs${new URL(page.url()).search}`, { as: 'read' })
  await colleague.getByText(`${COUNTS.bounced} jobs`).first().waitFor()
  await expect.poll(() => rowsOf(colleague).count()).toBe(COUNTS.bounced)
})

test('terms become chips, Tab takes a suggestion, Backspace removes the last chip', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?state=waiting')
  await page.getByText(`${WAITING} jobs`).first().waitFor()
  await task(page, { clicks: 0, keys: 3 }, async (user) => {
    await user.press('f')
    await user.type('qu')
    await user.press('Tab')
    await user.type('imp')
    await user.press('Tab')
  })
  await page.getByRole('button', { name: 'Remove queue imports' }).waitFor()
  await page.getByText(`${COUNTS.paused} jobs`).first().waitFor()
  expect(await page.evaluate<boolean>('document.activeElement.matches("[data-query]")')).toBe(true)
  await page.keyboard.press('Backspace')
  await page.getByText(`${WAITING} jobs`).first().waitFor()
})

test("did this customer's job run? A search, Enter: and their jobs are there", async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  await engine.enqueue('resize', { customer: 'customer-needle', image: 'a.png' }, { summary: 'Avatar of Ada' })
  const page = await enter('/')
  await page.getByRole('button', { name: 'Search or jump to' }).waitFor()
  await task(page, { clicks: 0, keys: 2 }, async (user) => {
    await user.press('/')
    await user.type('customer-needle')
    await user.press('Enter')
  })
  await page.getByText('1 job', { exact: true }).waitFor()
  expect(await rowsOf(page).count()).toBe(1)
  await rowsOf(page).getByText('Avatar of Ada').waitFor()
})

test('by the keyboard alone: a row, the job beside the list, and the job as a page', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?state=failed&q=queue%3Abilling')
  await page.getByText(`${COUNTS.declined} jobs`).first().waitFor()
  const peek = page.getByRole('complementary', { name: 'Job' })
  await task(page, { clicks: 0, keys: 3 }, async (user) => {
    await user.press('j')
    await user.press('j')
    await user.press('Space')
    await peek.getByText('PaymentDeclined', { exact: true }).waitFor()
  })
  const second = new URL(page.url()).searchParams.get('peek')
  await page.keyboard.press('j')
  await expect.poll(() => new URL(page.url()).searchParams.get('peek')).not.toBe(second)
  await page.keyboard.press('Escape')
  await peek.waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('why did it fail? One click beside the list; retry it with one more', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine)
  const page = await enter('/jobs?state=failed&q=queue%3Abilling')
  const row = page.locator(`tr[data-job="${ids.failed}"]`)
  const peek = page.getByRole('complementary', { name: 'Job' })
  await task(page, 1, async (user) => {
    await user.click(row.getByRole('cell').nth(1))
    await peek.getByText('PaymentDeclined', { exact: true }).waitFor()
  })
  await task(page, 1, async (user) => {
    await user.click(peek.getByRole('button', { name: 'Retry' }))
    await page.getByText('charge runs again.').waitFor()
  })
  await expect.poll(async () => (await engine.get(ids.failed))?.run).toBe(2)
})

test('it is fixed: retry all that match in two clicks, with their number and scope; others stay', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?state=failed&q=queue%3Abilling')
  await page.getByText(`${COUNTS.declined} jobs`).first().waitFor()
  const bar = page.getByRole('toolbar', { name: 'Selected jobs' })
  await task(page, { clicks: 2, keys: 1 }, async (user) => {
    await user.press('a')
    await bar.getByText(`All ${COUNTS.declined} jobs`).first().waitFor()
    await bar.getByText(/^that match, ended before \d\d:\d\d:\d\d$/).waitFor()
    await user.click(bar.getByRole('button', { name: `Retry ${COUNTS.declined}…` }))
    const dialog = page.getByRole('dialog', { name: 'Retry jobs' })
    await dialog.getByText(/^24 failed jobs that match queue:billing, counted at/).waitFor()
    await user.click(dialog.getByRole('button', { name: `Retry ${COUNTS.declined}` }))
    await dialog.getByText(`${COUNTS.declined} retried`).waitFor()
  })
  const runs = async (queue: string) => (await engine.list({ queue, state: 'failed' })).jobs.map(({ run }) => run)
  await expect.poll(async () => (await runs('billing')).every((run) => run === 2)).toBe(true)
  expect(new Set(await runs('mail'))).toEqual(new Set([1]))
})

test('delete some rows: chosen by the keyboard, counted, confirmed', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?state=failed')
  const all = COUNTS.declined + COUNTS.bounced
  await page.getByText(`${all} jobs`).first().waitFor()
  await task(page, { clicks: 2, keys: 6 }, async (user) => {
    for (const key of ['j', 'x', 'j', 'j', 'Shift+x']) await user.press(key)
    await page.getByText('3 selected').waitFor()
    await user.click(page.getByRole('button', { name: 'Delete 3…' }))
    await user.click(page.getByRole('dialog').getByRole('button', { name: 'Delete 3', exact: true }))
    await page.getByText('3 deleted').waitFor()
    await user.press('Escape')
  })
  await page
    .getByText(`${all - 3} jobs`)
    .first()
    .waitFor()
  expect((await engine.stats()).states.failed).toBe(all - 3)
})

test('retrying jobs are apart from scheduled ones, the next one due first', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?state=retrying')
  await page.getByText(`${COUNTS.retrying} jobs`).first().waitFor()
  await page.getByRole('link', { name: `Scheduled ${COUNTS.scheduled}` }).click()
  await page.getByText(`${COUNTS.scheduled} jobs`).first().waitFor()
  const due = await page.evaluate<string[]>('[...document.querySelectorAll("tr[data-job] time")].map(({ dateTime }) => dateTime)')
  expect(due).toEqual(due.toSorted())
})

test('a new job by n: what the server refuses stands at its field, and what it takes is shown', async ({ serveDashboard, guard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/jobs?q=queue%3Amail')
  await rowsOf(page).first().waitFor()
  const before = (await engine.stats()).totals.enqueued
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog', { name: 'New job' })
  expect(await dialog.getByLabel('Queue').inputValue()).toBe('mail')
  expect(await dialog.getByRole('button', { name: 'Enqueue' }).isDisabled()).toBe(true)
  await page.keyboard.type('send-welcome')
  await dialog.getByLabel('Data, as JSON').fill('{"id": 7,}')
  await dialog.getByRole('button', { name: 'Enqueue' }).click()
  await dialog.getByText(/^This is not JSON/).waitFor()
  const refused = guard.expect(/400/)
  await dialog.getByLabel('Data, as JSON').fill('{"id": 7}')
  await dialog.getByLabel('Priority').fill('high')
  await dialog.getByLabel('Start after, or at').fill('1h')
  await dialog.getByLabel('Key').fill('acme')
  await page.keyboard.press('Enter')
  await expect.poll(() => dialog.getByLabel('Priority').getAttribute('aria-invalid')).toBe('true')
  await refused
  await expectAccessible(page)
  await dialog.getByLabel('Priority').fill('7')
  await dialog.getByLabel('Data, as JSON').press('Control+Enter')
  await page.getByText('The job is enqueued.').waitFor()
  await page.getByRole('heading', { name: 'send-welcome', level: 1 }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  expect(await engine.get(id, { payload: 'preview' })).toMatchObject({
    ...{ name: 'send-welcome', queue: 'mail', state: 'scheduled', priority: 7, concurrencyKey: 'acme' },
    preview: { data: { start: '{"id":7}' } },
  })
  expect((await engine.stats()).totals.enqueued).toBe(before + 1)
})

test('a token that only reads has no actions', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine)
  const page = await enter(`/jobs?state=failed&peek=${ids.failed}`, { as: 'read' })
  const peek = page.getByRole('complementary', { name: 'Job' })
  await peek.getByText('PaymentDeclined', { exact: true }).waitFor()
  expect(await peek.getByRole('button', { name: /Retry|Delete/ }).count()).toBe(0)
  expect(await page.getByRole('button', { name: /New job/ }).count()).toBe(0)
  await page.keyboard.press('n')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a search in vain says how many jobs it has looked at, until it is stopped', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  const jobs = Array.from({ length: 6_000 }, (_, at) => ({ job: 'index', data: { at } }))
  await engine.enqueueMany(jobs)
  const page = await enter('/jobs')
  await page.locator('tr[data-job]').first().waitFor()
  // The last page is held back, so that the search is seen on its way.
  const held = Promise.withResolvers<void>()
  let pages = 0
  await page.route(/\/v1\/jobs\?.*search=/, async (route) => {
    if (/after=/.test(route.request().url()) && ++pages === 2) await held.promise
    await route.fallback()
  })
  await queryOf(page).fill('needle')
  await page.keyboard.press('Enter')
  await page.getByText(/^Looked at [1-9][\d,]* of 6,000, 0 found so far$/).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  held.resolve()
  await page.getByText(/^Stopped: looked at [\d,]+ of 6,000, 0 found so far$/).waitFor()
  const asked = server.asked.length
  await page.getByRole('button', { name: 'Search on' }).click()
  await server.until(/search=needle.*after=/, asked)
  await page.getByText('No jobs here').waitFor()
})

test('more rows come on demand, and only those in sight are drawn', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await engine.enqueueMany(Array.from({ length: 420 }, (_, at) => ({ job: 'index', data: { at } })))
  const page = await enter('/jobs')
  const more = page.getByRole('button', { name: 'Show more' })
  for (let rows = 100; rows <= 400; rows += 50) {
    await more.click()
    await page.getByText(`${rows} or more jobs`).first().waitFor()
  }
  const drawn = page.locator('tr[data-job]')
  expect(await drawn.count()).toBeLessThan(120)
  await page.evaluate('window.scrollTo(0, 0)')
  await drawn.filter({ hasText: 'at 419' }).waitFor()
  expect(await page.evaluate<number>('document.querySelector("table.jobs").offsetHeight')).toBeGreaterThanOrEqual(400 * 32)
})

test('is accessible in light and dark, and as wide as its window: 1280 and 390 px', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  for (const path of ['/jobs', '/jobs?state=active', `/jobs?state=failed&peek=${ids.failed}`]) {
    const page = await enter(path, { viewport: DESK })
    await page.locator('tr[data-job]').first().waitFor()
    if (path.includes('peek'))
      await page.getByRole('complementary', { name: 'Job' }).getByText('PaymentDeclined', { exact: true }).waitFor()
    await expectFitting(page, path)
  }
})
