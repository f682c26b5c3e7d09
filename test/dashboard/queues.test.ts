/** The screens Queues and Queue: what holds a queue back, pauses, limits, drains and purges. */
import { once } from 'node:events'
import { defineJob, type Engine } from '@millrace/engine'
import { expect } from 'vitest'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

const charge = defineJob({ name: 'charge', queue: 'billing' })
const reindex = defineJob({ name: 'reindex', queue: 'search' })
const report = defineJob({ name: 'report', queue: 'reports' })

/** A queue of each kind: one with limits that runs jobs, one that nobody serves, and one that is paused. */
async function filled(): Promise<Engine> {
  const engine = openInThread()
  await engine.queues.configure('billing', { concurrencyLimit: 2, rateLimit: { limit: 20, period: '1s' } })
  await engine.queues.configure('reports', {})
  const untilStopped = charge.handler(async ({ signal }) => {
    await once(signal, 'abort')
  })
  engine.work([untilStopped, report.handler(() => {})], { id: 'worker-1', concurrency: 8 })
  await engine.queues.pause('reports')
  await engine.enqueueMany([
    ...Array.from({ length: 12 }, (_, at) => ({ job: charge, data: {}, options: { concurrencyKey: `customer-${at % 3}` } })),
    ...Array.from({ length: 7 }, () => ({ job: reindex, data: {} })),
    ...Array.from({ length: 3 }, () => ({ job: report, data: {} })),
  ])
  return engine
}

const queue = async (engine: Engine, name: string) => (await engine.queues.list()).find((each) => each.name === name)

test('why a queue is slow takes one click: limits, slots, oldest and names are on its screen', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ engine: await filled() })
  const page = await enter('/queues')
  await task(page, 1, (user) => user.click(page.getByRole('link', { name: 'billing', exact: true })))
  const why = page.getByRole('region', { name: 'Why is it slow?' })
  await why.getByRole('heading', { name: 'All 2 slots are taken' }).waitFor()
  for (const said of ['Nothing is paused.', '2 of 8 slots are taken, of 1 worker.', 'At most 20 per s', 'Waits for'])
    await why.getByText(said).waitFor()
  await expectAccessible(page)
  await page.goBack()
  await page.getByRole('link', { name: 'search', exact: true }).click()
  await page.getByRole('heading', { name: 'No worker serves the queue' }).waitFor()
  await page.getByText('nobody serves it, 7 jobs wait').waitFor()
})

test('a queue, a job name, a key and all queues are each paused in two clicks', async ({ serveDashboard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues')
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('button', { name: 'Actions of billing' }))
    await user.click(page.getByRole('button', { name: 'Pause', exact: true }))
  })
  await page.getByText('Queue billing is paused.').waitFor()
  expect(await queue(engine, 'billing')).toMatchObject({ paused: true })
  expect(await queue(engine, 'search')).toMatchObject({ paused: false })

  await task(page, 2, async (user) => {
    await user.click(page.getByRole('link', { name: 'search', exact: true }))
    await user.click(page.getByRole('button', { name: 'Pause reindex' }))
  })
  await page.getByText('reindex in search is paused.').waitFor()
  expect(await queue(engine, 'search')).toMatchObject({ paused: false, pausedJobs: ['reindex'] })

  await task(page, 2, async (user) => {
    await user.click(page.getByRole('textbox', { name: 'Key', exact: true }))
    await user.type('customer-1')
    await user.click(page.getByRole('button', { name: 'Pause key' }))
  })
  await page.getByText('Key customer-1 in search is paused.').waitFor()
  expect(await queue(engine, 'search')).toMatchObject({ pausedKeys: ['customer-1'] })
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Resume customer-1' })))
  await page.getByText('Key customer-1 in search is resumed.').waitFor()
  expect(await queue(engine, 'search')).toMatchObject({ pausedKeys: [], pausedJobs: ['reindex'] })

  await page.getByRole('link', { name: 'Queues' }).last().click()
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('button', { name: 'Pause all…' }))
    await user.click(page.getByRole('button', { name: 'Pause all queues' }))
  })
  await page.getByText('No job of any queue starts').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Resume all' }).waitFor()
  expect((await engine.stats()).paused).toBe(true)
})

test('which keys hold jobs back, and a pause of the worst of them, in two clicks from the list of queues', async ({ serveDashboard }) => {
  const engine = await filled()
  await engine.queues.configure('search', { perKeyLimit: 1, rateLimit: { limit: 20, period: '1d' } })
  const keysOf = (key: string, jobs: number) =>
    Array.from({ length: jobs }, () => ({ job: reindex, data: {}, options: { concurrencyKey: key } }))
  await engine.enqueueMany([...keysOf('acme', 3), ...keysOf('globex', 9), ...keysOf('initech', 1)])
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues')
  const card = page.getByRole('region', { name: 'Keys' })
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('link', { name: 'search', exact: true }))
    await user.click(card.getByRole('button', { name: 'Pause globex' }))
  })
  await page.getByText('Key globex in search is paused.').waitFor()
  await card.getByRole('button', { name: 'Resume globex' }).waitFor()
  expect(await card.getByRole('row').allTextContents()).toMatchObject(
    [/Key/, /globex.*paused.*9.*0/, /acme.*3.*0/, /initech.*1.*0/].map((row) => expect.stringMatching(row)),
  )
  await page.getByText('20 jobs may start now.').waitFor()
  expect((await engine.queues.get('search'))?.pausedKeys).toEqual(['globex'])
  await expectAccessible(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await card.getByRole('link', { name: 'acme' }).click()
  await page.waitForURL((url) => url.searchParams.get('q') === 'queue:search key:acme')
})

test('a limit is raised: only what was changed is sent, and what cannot be read is not', async ({ serveDashboard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues/billing')
  const field = page.getByLabel('Jobs at a time')
  await field.fill('many')
  await page.getByText('must be a whole number, got many').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await expectAccessible(page)
  await field.fill('4')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings of billing are saved.').waitFor()
  const { settings } = (await queue(engine, 'billing')) as { settings: unknown }
  expect(settings).toEqual({ concurrencyLimit: 4, rateLimit: { limit: 20, period: 1_000, burst: 20 } })
  await page.getByRole('heading', { name: 'All 4 slots are taken' }).waitFor()
})

test('tiers of keys are set as JSON; other queues keep theirs', async ({ serveDashboard }) => {
  const engine = await filled()
  await engine.queues.configure('search', { keyTiers: { free: { perKeyLimit: 1 } } })
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues/billing')
  const field = page.getByLabel('Tiers of keys')
  await field.fill('gold: 3')
  await page.getByText('must be a JSON object, got gold: 3').waitFor()
  await field.fill('{"gold": {"perKeyLimit": 3}}')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings of billing are saved.').waitFor()
  const tiersOf = async (name: string) => (await engine.queues.get(name))?.settings.keyTiers
  expect([await tiersOf('billing'), await tiersOf('search')]).toEqual([{ gold: { perKeyLimit: 3 } }, { free: { perKeyLimit: 1 } }])
})

test('two edits at once: the second keeps what the first has saved in fields of the same setting', async ({ serveDashboard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues/billing')
  await page.getByText('Rates', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Pause live updates' }).click()
  await page.getByLabel('burst').first().fill('5')
  await engine.queues.configure('billing', { rateLimit: { limit: 20, period: '10s', burst: 20 } })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings of billing are saved.').waitFor()
  const { settings } = (await queue(engine, 'billing')) as { settings: unknown }
  expect(settings).toEqual({ concurrencyLimit: 2, rateLimit: { limit: 20, period: 10_000, burst: 5 } })
})

test('a setting that the engine refuses says why, and stays in the form', async ({ serveDashboard, guard }) => {
  const { enter } = await serveDashboard({ engine: await filled() })
  const page = await enter('/queues/billing')
  const refused = guard.expect(/400|422/)
  await page.getByLabel('Jobs at a time').fill('0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('That failed').waitFor()
  await refused
  expect(await page.getByLabel('Jobs at a time').inputValue()).toBe('0')
})

test('a purge takes three clicks: it counts, asks for the name, and leaves what runs', async ({ serveDashboard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues/billing')
  await task(page, 3, async (user) => {
    await user.click(page.getByRole('button', { name: 'Purge…' }))
    await page.getByText('Removes 10 jobs that wait').waitFor()
    await page.getByText('2 jobs run and stay.').waitFor()
    expect(await page.getByRole('button', { name: 'Purge 10 jobs' }).isDisabled()).toBe(true)
    await user.click(page.getByLabel('Type billing to confirm'))
    await user.type('billing')
    await user.click(page.getByRole('button', { name: 'Purge 10 jobs' }))
  })
  await page.getByText('10 jobs of billing removed.').waitFor()
  expect(await queue(engine, 'billing')).toMatchObject({ states: { waiting: 0, active: 2 } })
  expect(await queue(engine, 'search')).toMatchObject({ states: { waiting: 7 } })
})

test('a queue drains, and takes jobs again; only an empty one is deleted', async ({ serveDashboard, guard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/queues/search')
  await page.getByRole('button', { name: 'Drain…' }).click()
  await page.getByRole('button', { name: 'Drain', exact: true }).click()
  await page.getByText('Queue search drains.').waitFor()
  expect(await queue(engine, 'search')).toMatchObject({ settings: { draining: true } })
  await page.getByRole('button', { name: /^Resume/ }).click()
  await page.getByText('Queue search is resumed.').waitFor()
  expect(await queue(engine, 'search')).toMatchObject({ settings: {} })
  const refused = guard.expect(/409/)
  await page.getByRole('button', { name: 'Delete queue…' }).click()
  await page.getByRole('button', { name: 'Delete queue', exact: true }).click()
  await page.getByText(/has 7 jobs/).waitFor()
  await refused
})

test('the list: a filter that is part of the address, no sideways scroll on a phone, and nothing that axe refuses', async ({
  serveDashboard,
}) => {
  const { enter } = await serveDashboard({ engine: await filled() })
  const page = await enter('/queues', { viewport: { width: 390, height: 844 } })
  await page.getByRole('link', { name: 'billing', exact: true }).waitFor()
  await expectAccessible(page)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('ear')
  await page.getByRole('link', { name: 'billing', exact: true }).waitFor({ state: 'hidden' })
  await expect.poll(() => new URL(page.url()).search).toBe('?q=ear')
  await page.goto(`${new URL(page.url()).origin}/queues/billing`)
  await page.getByRole('heading', { name: 'All 2 slots are taken' }).waitFor()
  await expectAccessible(page)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
})

test('by keys alone: to the list, into a queue, and p pauses it once it has asked', async ({ serveDashboard }) => {
  const engine = await filled()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('q')
  await page.getByRole('link', { name: 'billing', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Pause p/ }).waitFor()
  await page.keyboard.press('p')
  const dialog = page.getByRole('dialog', { name: 'Pause billing?' })
  await dialog.waitFor()
  expect(await queue(engine, 'billing')).toMatchObject({ paused: false })
  await dialog.getByRole('button', { name: 'Pause the queue' }).press('Enter')
  await page.getByText('Queue billing is paused.').waitFor()
  expect(await queue(engine, 'billing')).toMatchObject({ paused: true })
})

test('a token that only reads sees all of it, and no action', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ engine: await filled() })
  const page = await enter('/queues', { as: 'read' })
  await page.getByRole('link', { name: 'billing', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /[Pp]ause all/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'billing', exact: true }).click()
  await page.getByRole('heading', { name: 'All 2 slots are taken' }).waitFor()
  await page.getByText('20', { exact: true }).first().waitFor()
  expect(await page.locator('.page button, .page input').count()).toBe(0)
  await expectAccessible(page)
})

test('a queue that is not there says so', async ({ serveDashboard, guard }) => {
  const { enter } = await serveDashboard()
  const refused = guard.expect(/404/)
  const page = await enter('/queues/nowhere')
  await page.getByText('There is no queue nowhere.').waitFor()
  await refused
})
