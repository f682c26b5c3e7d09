/** The cost of a live page for the browser: the time of an update, and the memory after many of them. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Serve, test } from './test.ts'

const ROWS = 50
const UPDATES = 10_000
/** Fewer rows are enough for the memory, and take less time. */
const FEW = 10

/**
 * Runs in the page before its own scripts. From `begin` on, its questions are answered there and at once, each time by other jobs than
 * before, and its timers fire when the test says so: a step is one look at everything, and all that the page does until it rests.
 */
const DRIVER = `(() => {
  const real = { fetch: window.fetch.bind(window), setTimeout: window.setTimeout.bind(window), clearTimeout: window.clearTimeout.bind(window) }
  const answers = new Map()
  const timers = new Map()
  let isOn = false
  let last = 0
  let version = 0
  window.setTimeout = (call, delay) => (isOn ? (timers.set(--last, call), last) : real.setTimeout(call, delay))
  window.clearTimeout = (timer) => (timer < 0 ? timers.delete(timer) : real.clearTimeout(timer))
  window.fetch = async (url, init) => {
    const path = new URL(url, location.href).pathname
    if (isOn && answers.has(path)) return { ok: true, status: 200, headers: new Headers(), json: async () => answers.get(path) }
    const response = await real.fetch(url, init)
    if (response.ok && response.status === 200) answers.set(path, await response.clone().json())
    return response
  }
  const { port1, port2 } = new MessageChannel()
  const rest = () => new Promise((resolve) => { port1.onmessage = resolve; port2.postMessage(0) })
  const change = (rows) => {
    const { jobs, ...page } = answers.get('/v1/jobs')
    version++
    const text = JSON.stringify({ version, note: 'changed' })
    const newer = jobs.map((job, at) => (at < rows ? { ...job, attempt: version, preview: { data: { bytes: text.length, text } } } : job))
    answers.set('/v1/jobs', { ...page, jobs: newer })
    // Each answer is made of objects of its own, as those of the network are.
    for (const [path, answer] of answers) answers.set(path, structuredClone(answer))
  }
  // All of the page's script for an answer runs in microtasks: the browser lays out and paints afterwards.
  const step = async () => {
    const due = [...timers.values()]
    timers.clear()
    for (const call of due) call()
    for (let turn = 0; turn < 200; turn++) await undefined
  }
  const timed = async (work) => {
    const from = performance.now()
    await work()
    return performance.now() - from
  }
  // As many rows, built by hand: how fast this machine is now.
  const build = () => {
    const body = document.createElement('tbody')
    for (let row = 0; row < ${ROWS}; row++) {
      const line = body.appendChild(document.createElement('tr'))
      for (let cell = 0; cell < 20; cell++) {
        const part = line.appendChild(document.createElement('td')).appendChild(document.createElement('span'))
        part.className = 'mono faint'
        part.textContent = 'text of ' + version + ' ' + cell
      }
    }
  }
  window.budget = {
    begin() {
      isOn = true
    },
    async measure(times) {
      const [updates, builds] = [[], []]
      for (let time = 0; time < times; time++) {
        change(${ROWS})
        updates.push(await timed(step))
        builds.push(await timed(build))
        await rest()
      }
      return [Math.min(...updates), Math.min(...builds)]
    },
    async run(times, rows) {
      for (let time = 0; time < times; time++) {
        change(rows)
        await step()
        if (time % 10 === 0) await rest()
      }
      return version
    },
  }
})()`

async function openJobs(serveDashboard: Serve, rows: number): Promise<Page> {
  const { enter, engine } = await serveDashboard()
  await engine.enqueueMany(Array.from({ length: rows }, (_, at) => ({ job: 'index', data: { at } })))
  const page = await enter('/jobs', { own: true })
  await page.addInitScript(DRIVER)
  await page.reload()
  await page
    .locator('tr[data-job]')
    .nth(rows - 1)
    .waitFor()
  await page.evaluate('budget.begin()')
  // The pause calls the timers of before off; the end of it asks everything once more.
  await page.keyboard.press('.')
  await page.keyboard.press('.')
  await page.evaluate('budget.run(5, 1)')
  await page.getByText('note changed').first().waitFor()
  return page
}

test('50 rows that have changed are shown within 4 ms of script', async ({ serveDashboard }) => {
  const page = await openJobs(serveDashboard, ROWS)
  await page.evaluate('budget.measure(20)')
  // The fastest of many: other programs take their share of the others. An update costs 2.7 to 4.4 times the rows that are built by hand, the
  // more the busier the machine.
  const [update = Number.NaN, build = Number.NaN] = await page.evaluate<number[]>('budget.measure(100)')
  expect(update).toBeLessThanOrEqual(Math.max(4, 6 * build))
})

test('after 10,000 updates the page holds at most 60 MB', { timeout: 300_000 }, async ({ serveDashboard }) => {
  const page = await openJobs(serveDashboard, FEW)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const heapOf = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1_048_576
  }
  await page.evaluate(`budget.run(100, ${FEW})`)
  const before = await heapOf()
  expect(await page.evaluate(`budget.run(${UPDATES}, ${FEW})`)).toBe(UPDATES + 105)
  await page
    .getByText(`version ${UPDATES + 105}`)
    .first()
    .waitFor()
  const after = await heapOf()
  expect(after).toBeLessThanOrEqual(60)
  // And none of it grows with the updates.
  expect(after - before).toBeLessThanOrEqual(5)
})
