/**
 * Takes the pictures of docs/pictures: `node test/dashboard/pictures.ts`. An hour of the demo's shop passes under a clock of the test, so that
 * there is a history to see, in some seconds and from a seed.
 */

import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { dashboardFiles } from '@millrace/dashboard'
import type { Redact } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import type { Page } from 'playwright-core'
import { keepBusy, openShop } from '../../apps/millrace/src/demo/shop.ts'
import { findChromium } from '../browser/chromium.ts'
import { launch, openContext } from '../browser/launch.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = `${ROOT}docs/pictures`
const SEED = 7
const SIZE = { width: 1_280, height: 800 } as const
const SCALE = 1.5
const QUALITY = 82
const PAST_MS = 61 * 60_000
const STEP_MS = 60_000

/** Removes the folder of this checkout from stacks. */
const withoutFolder: Redact = ({ stack, ...said }) => ({
  ...said,
  ...(stack !== undefined && { stack: stack.replaceAll(ROOT, '/srv/shop/') }),
})

/** Lets an hour pass up to now. */
async function passHour({ engine, clock }: TestEngine, signal: AbortSignal): Promise<void> {
  const shop = {
    ...{ seed: SEED, rate: 1, signal, now: () => clock.now().getTime() },
    pause: (ms: number, aborted: AbortSignal) =>
      Promise.race([clock.sleep(ms), aborted.aborted ? undefined : once(aborted, 'abort')]).then(() => {}),
  }
  await openShop(engine, shop)
  void keepBusy(engine, shop).catch(() => {})
  while (Date.now() - clock.now().getTime() > STEP_MS) await clock.advance(STEP_MS)
  await clock.advance(Math.max(0, Date.now() - clock.now().getTime()))
}

interface Picture {
  readonly name: string
  readonly path: string
  /** What the page shows when it is ready. */
  readonly ready: string
}

async function picturesOf({ engine }: TestEngine): Promise<readonly Picture[]> {
  const failures = await engine.failures()
  const worst = failures.toSorted((a, b) => b.count - a.count)[0]
  const { jobs } = await engine.list({ state: 'failed', limit: 1, ...(worst !== undefined && { name: worst.name }) })
  return [
    { name: 'overview', path: '/', ready: 'main table tbody tr' },
    { name: 'jobs', path: '/jobs?state=failed', ready: 'main table tbody tr' },
    { name: 'job', path: `/jobs/${jobs[0]?.id}`, ready: 'main .card' },
    { name: 'errors', path: '/errors', ready: 'main table tbody tr' },
  ]
}

async function take(page: Page, { name, path, ready }: Picture, origin: string, scheme: string): Promise<void> {
  await page.goto(`${origin}${path}`)
  await page.locator(ready).first().waitFor()
  await page.waitForLoadState('networkidle')
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  const file = `${FOLDER}/${name}-${scheme}.webp`
  const bytes = Buffer.from(data, 'base64')
  writeFileSync(file, bytes)
  process.stdout.write(`${file} ${Math.round(bytes.length / 1_024)} kB\n`)
}

async function takeAll(): Promise<void> {
  const found = await findChromium()
  if ('missing' in found) throw new Error(`no browser: ${found.missing}`)
  await using world = createTestEngine({ now: new Date(Date.now() - PAST_MS), redact: withoutFolder })
  const ended = new AbortController()
  await passHour(world, ended.signal)
  const api = createHttp(world.engine, {
    open: true,
    dashboard: { files: await dashboardFiles() },
    instance: { name: 'shop', colour: 'purple' },
  })
  const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  mkdirSync(FOLDER, { recursive: true })
  const browser = await launch(found)
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await (await openContext(browser, { viewport: SIZE, deviceScaleFactor: SCALE, colorScheme })).newPage()
      for (const picture of await picturesOf(world)) await take(page, picture, origin, colorScheme)
      await page.context().close()
    }
  } finally {
    ended.abort()
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
}

await takeAll()
