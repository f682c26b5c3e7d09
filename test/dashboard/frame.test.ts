/** The frame of every screen: keys, themes, time zones, live updates, and room on a phone. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { FEW, fill } from './fill.ts'
import { type Dashboard, test } from './test.ts'

/** The rows of the list of keys that lead to screens. */
const GO_TO = `[...document.querySelectorAll('dialog section')]
  .filter((section) => section.querySelector('h3').textContent === 'Go to')
  .flatMap((section) => [...section.querySelectorAll('dl > div')])
  .map((row) => ({ label: row.querySelector('dt').textContent, keys: [...row.querySelectorAll('kbd')].map((key) => key.textContent) }))`
/** The titles of the screens in the sidebar, without their counts. */
const TITLES = `[...document.querySelectorAll('nav.side > a')].map((link) => [...link.childNodes].find(({ nodeType }) => nodeType === 3).data)`

test('? lists the keys, and each key of a screen leads to it', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  const screens = await page.evaluate<readonly { label: string; keys: string[] }[]>(GO_TO)
  expect(screens.map(({ label }) => label)).toEqual(await page.evaluate<string[]>(TITLES))
  await page.keyboard.press('Escape')
  for (const { label, keys } of screens) {
    for (const key of keys) await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name: label }).waitFor()
    await page.locator('nav a[aria-current=page]').filter({ hasText: label }).waitFor()
  }
})

test('keys that are typed into a field, or held with Alt, do nothing else', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Alt+/')
  await page.keyboard.press('/')
  await page.keyboard.type('g?.')
  expect(await page.getByRole('combobox').inputValue()).toBe('g?.')
  expect(await page.getByRole('dialog').count()).toBe(1)
})

test('a screen that was left while it loaded does not replace the one that is shown', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const held = Promise.withResolvers<void>()
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await held.promise
    await route.continue()
  })
  const loading = page.waitForRequest(/\/assets\/.*\.js$/)
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await loading
  await page.goBack()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const loaded = page.waitForResponse(/\/assets\/.*\.js$/)
  held.resolve()
  await (await loaded).finished()
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  expect(await page.getByRole('heading', { name: 'Overview' }).count()).toBe(1)
})

test('the first stop of Tab leads past the sidebar', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const link = page.getByRole('link', { name: 'Skip to the page' })
  expect((await link.boundingBox())?.width).toBeLessThan(2)
  await page.keyboard.press('Tab')
  expect((await link.boundingBox())?.width).toBeGreaterThan(50)
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true)
  expect(new URL(page.url()).hash).toBe('')
})

test('everything can be reached by Tab, and each stop is seen', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  await fill(engine, FEW)
  const page = await enter('/')
  await page.getByRole('button', { name: 'Retry…' }).first().waitFor()
  const wanted = await page.locator('a[href]:visible, button:visible:not([tabindex="-1"])').count()
  const stops = new Set<string>()
  for (let press = 0; press < wanted + 5; press++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate<string>(`(() => {
      const at = document.activeElement
      if (at === document.body) return ''
      const { outlineStyle, boxShadow } = getComputedStyle(at)
      return [...document.querySelectorAll('*')].indexOf(at) + (outlineStyle === 'none' && boxShadow === 'none' ? ' unseen' : '')
    })()`)
    if (stop !== '') stops.add(stop)
  }
  expect([...stops].filter((stop) => stop.endsWith('unseen'))).toEqual([])
  expect(stops.size).toBeGreaterThanOrEqual(wanted)
})

test('the theme is that of the system until another is chosen, and stays chosen', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard()
  const page = await enter('/', { colorScheme: 'dark' })
  const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  const dark = await background()
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await background()
  expect(dark).not.toBe(light)
  await page.getByRole('button', { name: /^admin · / }).click()
  await page.getByRole('button', { name: 'Dark' }).click()
  await page.locator('html[data-theme=dark]').waitFor()
  expect(await background()).toBe(dark)
  await page.reload()
  await page.locator('html[data-theme=dark]').waitFor()
  expect(await background()).toBe(dark)
})

test('times are those of the browser, or UTC', async ({ serveDashboard }) => {
  const { enter, engine } = await serveDashboard()
  const { id } = await engine.enqueue('job', {}, { delay: '1h' })
  const { runAt } = (await engine.get(id)) ?? {}
  if (runAt === undefined) throw new Error('the job has no time')
  const page = await enter(`/jobs/${id}`, { timezoneId: 'Asia/Kolkata' })
  await timeOf(page, new Date(runAt.getTime() + KOLKATA_AHEAD_MS), 'GMT+5:30').waitFor()
  await page.getByRole('button', { name: /^admin · / }).click()
  await page.getByRole('button', { name: 'UTC' }).click()
  await timeOf(page, runAt, 'UTC').waitFor()
})

const KOLKATA_AHEAD_MS = (5 * 60 + 30) * 60_000

/** The clock time of a date among the properties: it belongs to the job, so that no look at it moves it. */
function timeOf(page: Page, date: Date, zone: string): Locator {
  return page
    .getByRole('definition')
    .filter({ hasText: `${date.toISOString().slice(11, -1)} ${zone}` })
    .first()
}

/** Opens the overview with a clock that the test can move, and waits for its first answers. */
async function enterWithClock({ enter, server }: Dashboard): Promise<Page> {
  const page = await enter('/', { own: true })
  await page.clock.install()
  const since = server.asked.length
  await page.reload()
  await server.until(/^GET \/v1\/stats/, since)
  await page.getByRole('button', { name: 'Pause live updates' }).waitFor()
  return page
}

/** Returns the questions about the queue that the page asks within five minutes of its clock. */
async function askedIn5Minutes(page: Page, { server }: Dashboard): Promise<readonly string[]> {
  await settle(page)
  const since = server.asked.length
  await page.clock.fastForward('05:00')
  await settle(page)
  return server.asked.slice(since).flatMap(({ path }) => (path.startsWith('/v1/') ? [path] : []))
}

/** Resolves when a request that the page sends now has been answered: those before it have arrived. */
async function settle(page: Page): Promise<void> {
  await page.evaluate('fetch("/readyz").then((answer) => answer.text())')
}

test('the page asks while it is live, and nothing while it is paused', async ({ serveDashboard }) => {
  const dashboard = await serveDashboard()
  const page = await enterWithClock(dashboard)
  expect(await askedIn5Minutes(page, dashboard)).not.toEqual([])
  await page.keyboard.press('.')
  await page.getByRole('button', { name: 'Resume live updates' }).waitFor()
  expect(await askedIn5Minutes(page, dashboard)).toEqual([])
  const since = dashboard.server.asked.length
  await page.getByRole('button', { name: 'Resume live updates' }).click()
  await dashboard.server.until(/^GET \/v1\/stats/, since)
})

test('a tab that is not seen asks nothing, and looks at once when it is seen again', async ({ serveDashboard }) => {
  const dashboard = await serveDashboard()
  const page = await enterWithClock(dashboard)
  await show(page, false)
  expect(await askedIn5Minutes(page, dashboard)).toEqual([])
  const since = dashboard.server.asked.length
  await show(page, true)
  await dashboard.server.until(/^GET \/v1\/stats/, since)
})

/** Has the page believe that its tab is seen or not: a browser without windows shows all of them. */
async function show(page: Page, seen: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!seen} }); document.dispatchEvent(new Event('visibilitychange'))`,
  )
}
