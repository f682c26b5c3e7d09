/** Presses every button of every screen with the session of each token: none sends what the token does not allow. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { allows, changesOf, everyone } from './changes.ts'
import { type Filled, fill } from './fill.ts'
import { test } from './test.ts'

/** The screens of the sidebar, and those below them. */
async function screensOf(page: Page, { ids }: Filled): Promise<readonly string[]> {
  const shown = await page.evaluate<string[]>('[...document.querySelectorAll("nav.side > a")].map((link) => link.getAttribute("href"))')
  const details = {
    '/jobs': [`/jobs/${ids.failed}`, `/jobs/${ids.active}`, `/jobs/${ids.scheduled}`],
    '/queues': ['/queues/billing'],
    '/flows': [`/flows/${ids.flow}`],
  }
  return shown.flatMap((path) => [path, ...(details[path as keyof typeof details] ?? [])])
}

interface Sent {
  readonly method: string
  readonly path: string
}

/** Notes the changes that a page asks for, and keeps them from the server, so that each screen stays as it is. */
async function intercept(page: Page): Promise<readonly Sent[]> {
  const sent: Sent[] = []
  await page.route('**/v1/**', async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    if (request.method() === 'GET') return route.fallback()
    sent.push({ method: request.method(), path: decodeURIComponent(pathname) })
    const matched = /"dryRun":true/.test(request.postData() ?? '') ? 3 : 0
    return route.fulfill({ status: 200, contentType: 'application/json', body: `{"matched":${matched},"changed":0,"skipped":{}}` })
  })
  return sent
}

/** Presses every button of the screen, and in what it opens. */
async function pressAll(page: Page): Promise<void> {
  const buttons = page.locator('main button:visible:enabled')
  const count = await buttons.count()
  for (let place = 0; place < count; place++) {
    const button = buttons.nth(place)
    if (!(await button.isVisible().catch(() => false))) continue
    await press(page, button)
  }
}

const QUICK = { timeout: 500 } as const

async function press(page: Page, button: Locator): Promise<void> {
  await button.click(QUICK).catch(() => {})
  const items = page.locator('[popover]:popover-open button.item')
  const many = await items.count()
  for (let place = 0; place < many; place++) {
    if (place > 0) await button.click(QUICK).catch(() => {})
    await items
      .nth(place)
      .click(QUICK)
      .catch(() => {})
    await confirm(page)
  }
  await confirm(page)
  await page.keyboard.press('Escape')
}

/** Confirms a dialog that has opened, if it can be, and closes it. */
async function confirm(page: Page): Promise<void> {
  const dialog = page.locator('dialog[open]')
  if ((await dialog.count()) === 0) return
  const yes = dialog.locator('.primary:enabled, .danger:enabled').last()
  await yes.click(QUICK).catch(() => {})
  await page.keyboard.press('Escape')
  if ((await dialog.count()) > 0) await page.keyboard.press('Escape')
}

test.for(everyone.filter((who) => who !== 'blind'))(
  'for %s: no button sends what its scopes do not allow',
  { timeout: 400_000 },
  async (who, { serveDashboard }) => {
    const dashboard = await serveDashboard()
    const filled = await fill(dashboard.engine)
    const page = await dashboard.enter('/', { as: who })
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const sent = await intercept(page)
    for (const path of await screensOf(page, filled)) {
      await page.goto(`${dashboard.url}${path}`)
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      await page.locator('main .page > *').first().waitFor()
      await pressAll(page)
    }
    const changes = changesOf(dashboard)
    const found = sent.map(({ method, path }) => changes.find((each) => each.method === method && each.fits.test(path)))
    expect(found).not.toContain(undefined)
    const wrong = found.filter((change) => change !== undefined && !allows(who, change)).map((change) => change?.id)
    expect(wrong).toEqual([])
    const ids = new Set(found.map((change) => change?.id))
    if (who === 'read') expect([...ids]).toEqual([])
    if (who === 'admin') expect([...ids]).toEqual(expect.arrayContaining(['retryJobs', 'pauseQueue']))
  },
)
