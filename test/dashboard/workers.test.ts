/** The screen Workers: what each runs, and how to let one go. */
import { once } from 'node:events'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from './test.ts'

const charge = defineJob({ name: 'charge', queue: 'billing' })
const resize = defineJob({ name: 'resize', queue: 'media' })

/** Two workers, each of which runs one job until it is aborted. */
async function working(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  const [charging, resizing] = [charge, resize].map((job) =>
    job.handler(async ({ signal }) => {
      await once(signal, 'abort')
    }),
  )
  engine.work([charging as never], { id: 'worker-fra-1', concurrency: 4 })
  engine.work([resizing as never], { id: 'worker-ams-1', concurrency: 2 })
  const started = Promise.withResolvers<void>()
  let running = 0
  engine.on('started', () => {
    running++
    if (running === 2) started.resolve()
  })
  await engine.enqueueMany([
    { job: charge, data: {} },
    { job: resize, data: {} },
  ])
  await started.promise
  return engine
}

test('what a worker runs takes one click', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ engine: await working() })
  const page = await enter('/workers')
  await page.getByText('2 workers, 2 of 6 slots taken').waitFor()
  await task(page, 1, (user) => user.click(page.getByRole('link', { name: 'worker-fra-1' })))
  const beside = page.getByRole('complementary', { name: 'Worker' })
  await beside.getByRole('link', { name: 'charge' }).waitFor()
  expect(await beside.getByRole('link', { name: 'resize' }).count()).toBe(0)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await beside.waitFor({ state: 'hidden' })
})

test('a worker whose event loop is blocked stands out, with its version and its memory', async ({ serveDashboard }) => {
  const engine = await working()
  const { workers } = engine
  engine.workers = async () =>
    (await workers.call(engine)).map((worker) => ({ ...worker, eventLoopDelayMs: worker.id === 'worker-fra-1' ? 1_400 : 2 }))
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/workers')
  const row = (id: string) => page.getByRole('row').filter({ hasText: id })
  expect(await row('worker-fra-1').locator('.s-warn').textContent()).toBe('1.4 s')
  await row('worker-fra-1').getByText('late', { exact: true }).waitFor()
  expect(await row('worker-ams-1').locator('.s-warn').count()).toBe(0)
  await row('worker-ams-1')
    .getByText(/^\d+ MB$/)
    .waitFor()
  await row('worker-ams-1')
    .getByText(/^\d+\.\d+\.\d+/)
    .waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'worker-fra-1' }).click()
  const beside = page.getByRole('complementary', { name: 'Worker' })
  await beside.getByText(/Something blocks its event loop/).waitFor()
  await beside.getByText('in the engine’s process').waitFor()
})

test('a worker is let go in two clicks; the other stays', async ({ serveDashboard }) => {
  const engine = await working()
  const { enter } = await serveDashboard({ engine })
  const page = await enter('/workers')
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('button', { name: 'Stop… worker-fra-1' }))
    await user.click(page.getByRole('button', { name: 'Stop worker-fra-1', exact: true }))
  })
  await page.getByText('worker-fra-1 stops after its jobs.').waitFor()
  await page.getByText('stopping', { exact: true }).waitFor()
  const workers = await engine.workers()
  expect(workers.map(({ id, draining, runningJobs }) => [id, draining, runningJobs]).toSorted()).toEqual([
    ['worker-ams-1', false, 1],
    ['worker-fra-1', true, 1],
  ])
})

test('on a phone, by a token that only reads: no action, no sideways scroll', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ engine: await working() })
  const page = await enter('/workers', { as: 'read', viewport: { width: 390, height: 844 } })
  await page.getByRole('link', { name: 'worker-fra-1' }).waitFor()
  expect(await page.locator('.page button').count()).toBe(0)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})

test('without workers the page says what one is', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/workers')
  await page.getByRole('heading', { name: 'No worker is attached' }).waitFor()
  await expectAccessible(page)
})
