/** The screens Flows and Flow: which flows there are, jobs and their lines, and changes of a sub-tree. */
import { defineJob, type Engine, NonRetryableError } from '@millrace/engine'
import { expect } from 'vitest'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { DESK, expectFitting } from '../browser/fitting.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

const fetching = defineJob({ name: 'fetch' })
const charge = defineJob({ name: 'charge' })
const ship = defineJob({ name: 'ship' })

/** A flow in which charge fails until it is told to work, and so ship and notify do. */
async function failed() {
  const engine: Engine = openInThread({ logger: false })
  const state = { works: false }
  engine.work([
    fetching.handler(() => {}),
    ship.handler(() => {}),
    charge.handler(() => {
      if (!state.works) throw new NonRetryableError('card declined')
    }),
  ])
  const { id, jobs } = await engine.flow([
    { ref: 'fetch', job: fetching },
    { ref: 'charge', job: charge, dependsOn: ['fetch'] },
    { ref: 'ship', job: ship, dependsOn: ['charge'] },
    { ref: 'notify', job: ship, dependsOn: ['ship'] },
  ])
  await jobs.notify.result().catch(() => {})
  return { engine, id, jobs, state }
}

test('a flow is drawn, and a job of it is opened in one click', async ({ serveDashboard }) => {
  const { engine, id } = await failed()
  const { enter } = await serveDashboard({ engine })
  const page = await enter(`/flows/${id}`)
  await page.getByRole('link', { name: 'fetch: fetch, Completed' }).waitFor()
  expect(await page.locator('.flow .line').count()).toBe(3)
  await task(page, 1, (user) => user.click(page.getByRole('link', { name: 'charge: charge, Failed' })))
  const beside = page.getByRole('complementary', { name: 'Job' })
  await beside.getByRole('link', { name: 'Open the job' }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.has('job')).toBe(true)
  await expectAccessible(page)
})

test('a job is retried with all that wait for it: the button says how many', async ({ serveDashboard }) => {
  const { engine, id, jobs, state } = await failed()
  const { enter } = await serveDashboard({ engine })
  const page = await enter(`/flows/${id}`)
  state.works = true
  await task(page, 3, async (user) => {
    await user.click(page.getByRole('link', { name: 'charge: charge, Failed' }))
    await user.click(page.getByRole('button', { name: 'Retry 3…' }))
    await user.click(page.getByRole('button', { name: 'Retry 3 jobs' }))
  })
  await page.getByRole('link', { name: 'notify: ship, Completed' }).waitFor()
  await jobs.notify.result()
  expect((await engine.get(jobs.fetch.id))?.run).toBe(1)
})

test('a sub-tree is cancelled; what stands beside it goes on', async ({ serveDashboard }) => {
  const engine = openInThread({ logger: false })
  const { id, jobs } = await engine.flow([
    { ref: 'split', job: 'split' },
    { ref: 'left', job: 'part', dependsOn: ['split'] },
    { ref: 'right', job: 'part', dependsOn: ['split'] },
    { ref: 'end', job: 'end', dependsOn: ['left'] },
  ])
  const { enter } = await serveDashboard({ engine })
  const page = await enter(`/flows/${id}`)
  await page.getByRole('link', { name: /^left/ }).click()
  await page.getByRole('button', { name: 'Cancel 2…' }).click()
  await page.getByRole('button', { name: 'Cancel 2 jobs' }).click()
  await page.getByRole('link', { name: 'end: end, Cancelled' }).waitFor()
  expect((await engine.get(jobs.left.id))?.state).toBe('cancelled')
  expect((await engine.get(jobs.right.id))?.state).toBe('blocked')
})

test('more than 60 jobs are a table; on a phone nothing scrolls sideways, and a token that only reads sees no action', async ({
  serveDashboard,
}) => {
  const engine = openInThread({ logger: false })
  const parts = Array.from({ length: 70 }, (_, at): { ref: string; job: string; dependsOn?: string[] } => ({
    ref: `part-${at}`,
    job: 'part',
  }))
  parts.push({ ref: 'join', job: 'join', dependsOn: parts.map(({ ref }) => ref) })
  const { id } = await engine.flow(parts)
  const { enter } = await serveDashboard({ engine })
  const page = await enter(`/flows/${id}`, { as: 'read', viewport: { width: 390, height: 844 } })
  await page.getByText('71 jobs: too many to draw.').waitFor()
  expect(await page.getByRole('row').count()).toBe(72)
  await page.getByRole('link', { name: 'part-3', exact: true }).click()
  await page.getByRole('link', { name: 'Open the job' }).waitFor()
  expect(await page.getByRole('button', { name: /Retry|Cancel/ }).count()).toBe(0)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})

test('a flow that is not there says so', async ({ serveDashboard, guard }) => {
  const { enter } = await serveDashboard()
  const refused = guard.expect(/404/)
  const page = await enter('/flows/01990a5e-7f00-7000-8000-000000400001')
  await page.getByText('There is no flow').waitFor()
  await refused
})

/** Flows that run, sixty if not said otherwise, one of which has failed jobs, around one that has failed and one that was cancelled. */
async function many(running = 60) {
  const { engine, id } = await failed()
  const flow = () =>
    engine.flow([
      { ref: 'first', job: 'load' },
      { ref: 'last', job: 'sum', dependsOn: ['first'], onParentFailure: 'ignore' },
    ])
  const cancelled = await flow()
  await engine.cancel(cancelled.id, { descendants: true })
  await cancelled.jobs.last.result().catch(() => {})
  const ids: string[] = []
  for (let at = 0; at < running; at++) ids.push((await flow()).id)
  return { engine, failed: id, cancelled: cancelled.id, newest: ids.at(-1) as string, oldest: ids[0] as string }
}

test('which flow has failed, and which of its jobs, takes three clicks', async ({ serveDashboard }) => {
  const { engine, failed: id } = await many()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/')
  await task(page, 3, async (user) => {
    await user.click(page.getByRole('link', { name: 'Flows' }))
    await user.click(page.getByRole('button', { name: 'Failed' }))
    await user.click(page.getByRole('link', { name: 'fetch', exact: true }))
  })
  await page.getByRole('link', { name: 'charge: charge, Failed' }).waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/flows/${id}`)
  await task(page, 1, (user) => user.click(page.getByRole('main').getByRole('link', { name: 'Flows' })))
  await page.locator('tbody tr').nth(49).waitFor()
})

test('flows come newest first, fifty to a page; the address says which page, and which state', async ({ serveDashboard }) => {
  const { engine, newest, oldest, cancelled } = await many()
  const { enter, url } = await serveDashboard({ engine })
  const page = await enter('/flows')
  const ids = () => page.locator('tbody a').evaluateAll((links) => links.map((link) => link.getAttribute('href')?.split('/').at(-1)))
  await page.locator('tbody tr').nth(49).waitFor()
  expect((await ids())[0]).toBe(newest)
  expect(await page.getByRole('row').nth(1).textContent()).toMatch(/load[\s\S]*Running[\s\S]*1[\s\S]*1[\s\S]*default/)
  await page.getByRole('link', { name: 'Older flows' }).click()
  await expect.poll(async () => (await ids()).length).toBe(12)
  expect((await ids()).at(-3)).toBe(oldest)
  await page.reload()
  await expect.poll(async () => (await ids()).at(-3)).toBe(oldest)
  await page.getByRole('link', { name: 'Newest flows' }).click()
  await expect.poll(async () => (await ids())[0]).toBe(newest)
  await page.goto(`${url}/flows?state=cancelled`)
  await expect.poll(ids).toEqual([cancelled])
  await page.getByRole('button', { name: 'Completed' }).click()
  await page.getByText('No flow that is kept is in this state.').waitFor()
})

test('the list by keys alone: g and f, and the palette', async ({ serveDashboard }) => {
  const { engine } = await failed()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await task(page, { clicks: 0, keys: 2 }, async (user) => {
    await user.press('g')
    await user.press('f')
  })
  await page.getByRole('link', { name: 'fetch', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'charge: charge, Failed' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('flows')
  await page.getByRole('option', { name: /^Flows/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Flows' }).waitFor()
})

test('the list is accessible in light and dark, and as wide as its window: 1280 and 390 px', async ({ serveDashboard }) => {
  const { engine } = await many(3)
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/flows', { as: 'read', viewport: DESK })
  await page.locator('tbody tr').nth(4).waitFor()
  await expectFitting(page, 'the list')
})

test('without flows the list says what one is', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/flows', { as: 'read' })
  await page.getByRole('heading', { name: 'No flows yet' }).waitFor()
})
