/** The screen Schedules: how the last job ended, when the next ones come, and changes. */
import { defineJob, type Engine, NonRetryableError } from '@millrace/engine'
import { expect } from 'vitest'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

const report = defineJob<{ of: string }>({ name: 'report', queue: 'reports' })

/** A schedule whose last job failed, one that has not run, and one that is paused. */
async function scheduled(): Promise<Engine> {
  const engine = openInThread({ logger: false })
  engine.work([
    report.handler(() => {
      throw new NonRetryableError('the disk is full')
    }),
  ])
  await engine.schedules.upsert('nightly', { cron: '0 3 * * *', timezone: 'Europe/Berlin' }, { job: report, data: { of: 'yesterday' } })
  await engine.schedules.upsert('poll', { every: '6h' }, { job: 'poll', data: {} })
  await engine.schedules.upsert('month-end', { cron: '0 0 L * *', paused: true }, { job: 'close', data: {} })
  const last = await engine.schedules.trigger('nightly')
  await last.result().catch(() => {})
  return engine
}

test('did the nightly run? One click shows how it ended and the next five times; the second runs it now', async ({ serveDashboard }) => {
  const engine = await scheduled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/schedules')
  await page.getByText('every day at 03:00').waitFor()
  const beside = page.getByRole('complementary', { name: 'Schedule' })
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('link', { name: 'nightly' }))
    await beside.getByText('Failed', { exact: true }).waitFor()
    await beside.getByText('the disk is full').waitFor()
    expect(await beside.getByRole('listitem').count()).toBe(5)
    await expectAccessible(page)
    await user.click(beside.getByRole('button', { name: 'Run now' }))
  })
  await page.getByText('Started a job of nightly.').waitFor()
  expect((await engine.schedules.get('nightly'))?.runs).toBe(2)
  expect((await engine.schedules.get('poll'))?.runs).toBe(0)
})

test('a schedule is paused, edited and deleted; others stay as they are', async ({ serveDashboard }) => {
  const engine = await scheduled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/schedules?schedule=nightly')
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByText('Schedule nightly is paused.').waitFor()
  expect((await engine.schedules.get('nightly'))?.paused).toBe(true)

  await page.getByRole('button', { name: 'Edit…' }).click()
  await expectAccessible(page)
  await page.getByLabel('Expression').fill('30 4 * * 1-5')
  await page.getByText('Monday to Friday at 04:30').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Schedule nightly is saved.').waitFor()
  expect(await engine.schedules.get('nightly')).toMatchObject({
    cron: '30 4 * * 1-5',
    timezone: 'Europe/Berlin',
    paused: true,
    data: { of: 'yesterday' },
  })

  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete schedule' }).click()
  await page.getByText('Schedule nightly is deleted.').waitFor()
  expect(await engine.schedules.get('nightly')).toBeUndefined()
  expect((await engine.schedules.list()).schedules.map(({ id }) => id)).toEqual(['month-end', 'poll'])
})

test('a deletion that is refused says why, and the schedule stays in sight', async ({ serveDashboard, guard }) => {
  const engine = await scheduled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/schedules?schedule=nightly')
  const refused = guard.expect(/503/)
  await page.route('**/v1/schedules/nightly', (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 503, json: { detail: 'the disk is full, the test says' } })
      : route.fallback(),
  )
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete schedule' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete nightly' })
  await dialog.getByRole('alert').getByText('That failed: the disk is full, the test says.').waitFor()
  await refused
  await page.keyboard.press('Escape')
  await page.getByRole('complementary', { name: 'Schedule' }).getByRole('heading', { name: 'nightly' }).waitFor()
  expect((await engine.schedules.get('nightly'))?.id).toBe('nightly')
})

test('a schedule is created; one that the engine refuses stays in the form', async ({ serveDashboard, guard }) => {
  const engine = await scheduled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/schedules')
  const refused = guard.expect(/400|422/)
  await page.getByRole('button', { name: 'New schedule' }).click()
  expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
  await page.getByLabel('Id', { exact: true }).fill('weekly')
  await page.getByLabel('Job name').fill('report')
  await page.getByLabel('Expression').fill('61 * * * *')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('That failed').waitFor()
  await refused
  await page.getByLabel('Expression').fill('0 9 * * MON')
  await page.getByLabel('Data (JSON)').fill('{"of":"last week"}')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Schedule weekly is created.').waitFor()
  await page.getByRole('complementary', { name: 'Schedule' }).getByText('every Monday at 09:00').waitFor()
  expect(await engine.schedules.get('weekly')).toMatchObject({ job: 'report', data: { of: 'last week' }, cron: '0 9 * * MON' })
})

test('on a phone, by a token that only reads: no action, no sideways scroll', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ engine: await scheduled() })
  const page = await enter('/schedules?schedule=nightly', { as: 'read', viewport: { width: 390, height: 844 } })
  await page.getByText('the disk is full').waitFor()
  expect(await page.locator('.page button').allTextContents()).toEqual([''])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})
