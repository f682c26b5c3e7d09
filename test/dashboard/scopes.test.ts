/**
 * Who may do what: each token against each action. The actions are those of the API's document, and every button that the page shows.
 * What a token does not allow is absent from the page, and refused by the server when it is sent all the same.
 */
import { createHttp } from '@millrace/http'
import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { type Filled, fill } from './fill.ts'
import { type Dashboard, SCOPES, TOKENS, test, type Who } from './test.ts'

interface Documented {
  readonly operationId: string
  /** The scope that a token needs; absent if it needs none. */
  readonly 'x-scope'?: string
}

interface Change {
  readonly id: string
  readonly method: string
  /** The path, with an id of nothing in place of each parameter. */
  readonly path: string
  readonly fits: RegExp
  readonly scope: string | undefined
}

const NOTHING = '00000000-0000-7000-8000-000000000000'

/** Returns the operations that change something, as the API documents them. */
function changesOf({ engine }: Dashboard): readonly Change[] {
  const { paths } = createHttp(engine, { token: TOKENS }).document() as unknown as { paths: Record<string, Record<string, Documented>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'get')
      .map(([method, { operationId: id, 'x-scope': scope }]) => ({
        ...{ id, method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, NOTHING), scope },
        fits: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })),
  )
}

function allows(who: Who, { scope }: Change): boolean {
  return scope === undefined || scope === 'any' || SCOPES[who].some((own) => own === scope)
}

const everyone = Object.keys(SCOPES) as Who[]

describe('the server', () => {
  test.for(everyone)(
    'with the session of %s: each change that its scopes do not allow is refused',
    async (who, { serveDashboard, guard }) => {
      const dashboard = await serveDashboard()
      await fill(dashboard.engine)
      const before = await factsOf(dashboard)
      const page = await dashboard.enter('/login', { as: who })
      const forbidden = changesOf(dashboard).filter((change) => !allows(who, change))
      expect(forbidden.length > 0).toBe(who !== 'admin')
      if (forbidden.length > 0) void guard.expect(/status of 403/)
      for (const { id, method, path } of forbidden) {
        const init = `{ method: '${method}', headers: { 'content-type': 'application/json' }, body: '{}' }`
        const code = await page.evaluate<string>(`fetch('${path}', ${init}).then((answer) => answer.json()).then(({ code }) => code)`)
        expect(code, id).toBe('FORBIDDEN')
      }
      expect(await factsOf(dashboard)).toEqual(before)
    },
  )
})

async function factsOf({ engine }: Dashboard): Promise<unknown> {
  const { states, totals, paused } = await engine.stats()
  return { states, totals, paused, queues: (await engine.queues.list()).map(({ name, paused, settings }) => ({ name, paused, settings })) }
}

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

describe('the page', () => {
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
})
