/** The page of a job: what happened, what it has, and what can be done. Payloads of others stay text. */
import { once } from 'node:events'
import { defineJob } from '@millrace/engine'
import { expect } from 'vitest'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { DESK, expectFitting } from '../browser/fitting.ts'
import { task } from '../browser/task.ts'
import { FEW, fill } from './fill.ts'
import { test } from './test.ts'

test('is this job stuck? One click: its worker, its progress and its log; cancel it with one more', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter('/jobs?state=active')
  await task(page, 1, (user) => user.click(page.locator(`tr[data-job="${ids.active}"]`).getByRole('link').first()))
  const runs = page.getByRole('region', { name: 'Runs' })
  await runs.getByText('worker-fra-2').waitFor()
  await page.getByText('halfway').waitFor()
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Cancel' })))
  await page.getByText('Cancelled', { exact: true }).first().waitFor()
  expect((await engine.get(ids.active))?.state).toBe('cancelled')
})

// A key may be hit by accident, and only a browser presses them all.
test('no single key changes a job that runs, or a queue', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  for (const path of [`/jobs/${ids.active}`, '/queues/billing']) {
    const page = await enter(path)
    await page.getByRole('button', { name: /^(Cancel|Pause) [cp]$/ }).waitFor()
    const before = server.asked.length
    for (const key of 'abcdefhijklmnopqrstuvwxz') {
      await page.keyboard.press(key)
      const dialog = page.getByRole('dialog')
      if ((await dialog.count()) > 0) await page.keyboard.press('Escape')
    }
    expect(server.asked.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
    expect(new URL(page.url()).pathname).toBe(path)
  }
  const page = await enter(`/jobs/${ids.active}`)
  await page.getByRole('button', { name: 'Cancel c' }).waitFor()
  await page.keyboard.press('c')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
  await page.getByText('Cancelled', { exact: true }).first().waitFor()
})

test('why does it wait? The page says it without a click, and no longer once it has started', async ({ serveDashboard }) => {
  const engine = openInThread()
  await engine.queues.configure('mail', {})
  await engine.queues.pause('mail')
  const { enter } = await serveDashboard({ engine })
  const send = defineJob({ name: 'send' })
  const { id } = await engine.enqueue(send, null, { queue: 'mail' })
  const page = await enter(`/jobs/${id}`)
  const waits = page.getByRole('region', { name: 'Why it waits' })
  await waits.getByText("Waits, because queue 'mail' is paused.").waitFor()
  await waits.getByText("Waits, because no worker serves 'send' in queue 'mail'.").waitFor()
  await expectAccessible(page)
  const worker = engine.work(send.handler(() => 'sent'))
  await engine.queues.resume('mail')
  await page.getByText('Completed', { exact: true }).first().waitFor()
  await waits.waitFor({ state: 'detached' })
  await worker.stop()
})

test('a job is live by its events', async ({ serveDashboard }) => {
  const engine = openInThread()
  const step = defineJob({ name: 'step' })
  let report = (_: string) => {}
  const begun = Promise.withResolvers<void>()
  engine.work(
    step.handler(async ({ progress, signal }) => {
      report = (note) => progress(0.5, note)
      begun.resolve()
      await once(signal, 'abort')
    }),
  )
  const { enter } = await serveDashboard({ engine })
  const { id } = await engine.enqueue(step)
  await begun.promise
  const page = await enter(`/jobs/${id}`)
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  report('now at the second half')
  await page.getByText('now at the second half').waitFor()
})

test('run it with other data: e, edit, enqueue. Numbers and text are as they were typed', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter(`/jobs/${ids.failed}`)
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await task(page, { clicks: 1, keys: 2 }, async (user) => {
    await user.press('e')
    await page.getByLabel('Data, as JSON').waitFor()
    await user.press('Control+a')
    await user.type('{"will": "complete", "customer": "</script>", "amount": 7}')
    await user.click(page.getByRole('button', { name: 'Enqueue', exact: true }))
  })
  await page.getByText('The job is enqueued.').waitFor()
  const copy = await engine.get(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  expect(copy).toMatchObject({ name: 'charge', queue: 'billing', meta: { copyOf: ids.failed }, data: { customer: '</script>', amount: 7 } })
  await page.getByRole('link', { name: ids.failed }).waitFor()
  expect((await engine.get(ids.failed))?.state).toBe('failed')
})

test('what is no JSON is not sent', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter(`/jobs/${ids.failed}`)
  await page.getByRole('button', { name: 'Edit a copy' }).click()
  await page.getByLabel('Data, as JSON').fill('{a}')
  await page.getByRole('button', { name: 'Enqueue', exact: true }).click()
  await page.getByText('This is not JSON').waitFor()
})

test('a deletion asks first, and leads back to the list', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter(`/jobs/${ids.failed}`)
  await task(page, 3, async (user) => {
    await user.click(page.getByRole('button', { name: 'More actions' }))
    await user.click(page.getByRole('button', { name: 'Delete…' }))
    expect(await engine.get(ids.failed)).toBeDefined()
    await user.click(page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }))
  })
  await page.getByText('charge is deleted.').waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe('/jobs')
  expect([await engine.get(ids.failed), (await engine.get(ids.completed))?.state]).toEqual([undefined, 'completed'])
})

test('a job that waits gets another priority', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  const page = await enter(`/jobs/${ids.scheduled}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Change…' }).click()
  await page.getByLabel('Priority').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('report is changed.').waitFor()
  expect(await engine.get(ids.scheduled)).toMatchObject({ priority: 5, state: 'scheduled' })
})

test('payloads of others stay text, however hostile, and the page stays fast', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const keys = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`key${at}`, at]))
  const data = { html: '</script><img src=x onerror=alert(1)>', rtl: '\u202egnirts', keys, long: 'x'.repeat(5_000), deep: [[[[[[1]]]]]] }
  const { id } = await engine.enqueue('hostile', data, { tags: ['<i>tag</i>'] })
  const page = await enter(`/jobs/${id}`)
  await page.getByText('"</script><img src=x onerror=alert(1)>"').waitFor()
  expect(await page.locator('main img, main i:not(.dot)').count()).toBe(0)
  expect(await page.locator('.json .value').count()).toBeLessThan(20)
  await page.getByText('keys: { 3,000 }').click()
  await page.getByRole('button', { name: '100 of 2,900 more' }).click()
  await page.getByText('key199').waitFor()
  expect(await page.locator('.json .value').count()).toBeLessThan(250)
  const large = await engine.enqueue('large', { text: 'y'.repeat(900_000) })
  await page.goto(page.url().replace(id, large.id))
  await page.getByText(/^The first .* are shown\.$/).waitFor()
  expect(await page.getByRole('link', { name: 'Download' }).getAttribute('href')).toBe(`/v1/jobs/${large.id}/data`)
})

test('hidden values are marked, and a copy with them is refused', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard({ http: { redact: ['data.user.email'] } })
  const { id } = await engine.enqueue('send', { user: { email: 'ada@example.org', id: 7 } })
  const page = await enter(`/jobs/${id}`)
  await page.locator('.redacted').waitFor()
  expect(await page.content()).not.toContain('ada@example.org')
  await page.keyboard.press('e')
  await page.getByText('Values of its data are hidden.').waitFor()
})

test('a job that is gone says so', async ({ serveDashboard, guard }) => {
  const { enter } = await serveDashboard()
  const refused = guard.expect(/404/)
  const page = await enter('/jobs/01990a5e-7f00-7000-8000-000000400001')
  await page.getByText('This job is gone').waitFor()
  await refused
})

test('is accessible in light and dark, and as wide as its window: 1280 and 390 px', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { ids } = await fill(engine, FEW)
  for (const id of [ids.failed, ids.active, ids.blocked]) {
    const page = await enter(`/jobs/${id}`, { viewport: DESK })
    await page.getByRole('img', { name: /^Timeline/ }).waitFor()
    await expectFitting(page, id)
  }
})
