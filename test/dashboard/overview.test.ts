/** The overview: what is wrong, why, and make it stop, in as few clicks as promised. */
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { DESK, expectFitting } from '../browser/fitting.ts'
import { task } from '../browser/task.ts'
import { FEW, fill } from './fill.ts'
import { test } from './test.ts'

const PROBLEMS = 'Needs attention'

test('what is wrong? No click: the problems, worst first, each with its remedy', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  const problems = page.getByRole('region', { name: PROBLEMS }).locator('.problem')
  await task(page, 0, () => problems.filter({ hasText: 'imports is paused' }).waitFor())
  const shown = await problems.locator('strong').allTextContents()
  expect(shown).toEqual(['PaymentDeclined', 'SmtpError', 'TimeoutError', 'Nobody serves reindex', 'imports is paused'])
  const remedies = await problems.getByRole('button').allTextContents()
  expect(remedies).toEqual(['Retry…', 'Retry…', 'Retry…', 'Pause queue', 'Resume'])
})

test('all is well, and no job at all: a sentence, and a command to paste', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const page = await enter('/')
  await page.getByText('No jobs yet').waitFor()
  await expectAccessible(page)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('/v1/jobs')
  const { id } = await engine.enqueue('a')
  await engine.cancel(id)
  await page.getByRole('region', { name: PROBLEMS }).getByText('All is well').waitFor()
})

test('stop the bleeding: pause a queue in two clicks, and resume it in one', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'billing', exact: true }) })
  const isPaused = async (queue: string) => (await engine.queues.get(queue))?.paused
  await task(page, 2, async (user) => {
    await user.click(row.getByRole('button', { name: 'Actions of billing' }))
    await user.click(page.getByRole('button', { name: 'Pause', exact: true }))
    await page.getByText('Queue billing is paused.').waitFor()
  })
  expect([await isPaused('billing'), await isPaused('mail')]).toEqual([true, false])
  const problem = page.getByRole('region', { name: PROBLEMS }).locator('.problem').filter({ hasText: 'imports is paused' })
  await task(page, 1, async (user) => {
    await user.click(problem.getByRole('button', { name: 'Resume' }))
    await problem.waitFor({ state: 'detached' })
  })
  expect([await isPaused('imports'), await isPaused('billing')]).toEqual([false, true])
})

test('show a colleague: the address is all of what is seen', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  await page.getByRole('button', { name: '24 h' }).click()
  const { pathname, search } = new URL(page.url())
  const colleague = await enter(`${pathname}${search}`, { as: 'read' })
  await colleague.getByRole('columnheader', { name: 'Last 24 h' }).waitFor()
  expect(await colleague.getByRole('button', { name: '24 h' }).getAttribute('aria-pressed')).toBe('true')
})

test('read-only: the same problems, and no remedy', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine)
  const page = await enter('/', { as: 'read' })
  const problems = page.getByRole('region', { name: PROBLEMS })
  await problems.getByText('imports is paused').waitFor()
  expect(await problems.getByRole('button').count()).toBe(0)
  await page.getByRole('button', { name: 'Actions of billing' }).click()
  await page.getByRole('link', { name: 'Show failed jobs' }).waitFor()
  expect(await page.getByRole('button', { name: /^(?:Pause|Resume)$/ }).count()).toBe(0)
})

test('on a desk and on a phone: accessible in light and dark, and nothing beyond the edge', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine, FEW)
  const page = await enter('/', { viewport: DESK })
  await page.getByRole('row').nth(3).waitFor()
  await expectFitting(page, 'the overview')
})

test('the overview asks five questions, one more if a schedule has failed, and gets at most 60 kB', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  await fill(engine)
  const page = await enter('/')
  const names = ['stats', 'failures', 'workers', 'queues', 'history']
  await Promise.all(names.map((name) => server.until(new RegExp(`^GET /v1/${name}\\b`), 0)))
  await page.getByRole('row').nth(3).waitFor()
  const questions = () => {
    const looks = server.asked.filter(({ method, path }) => method === 'GET' && /^\/v1\/(?!session|info)/.test(path))
    return Map.groupBy(looks, ({ path }) => path.replace(/from=[^&]*/, ''))
  }
  // Its beats go on: the same questions come again.
  await server.until(/^GET \/v1\/stats/)
  expect(questions().size).toBe(5)
  const bytes = [...questions().values()].reduce((sum, [first]) => sum + (first?.bytes ?? Number.NaN), 0)
  expect(bytes).toBeLessThanOrEqual(60 * 1_024)

  await engine.schedules.upsert('nightly', { every: '1d' }, { job: 'send-welcome', data: { will: 'fail' } })
  const failed = await engine.schedules.trigger('nightly')
  await failed.result().catch(() => {})
  await page.getByText('Schedule nightly failed').waitFor()
  expect(questions().size).toBe(6)
})
