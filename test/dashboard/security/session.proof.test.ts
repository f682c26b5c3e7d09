/** Sessions that end or are tampered with while the page is open. */
import type { Caller } from '@millrace/http'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, vi } from 'vitest'
import { logIn } from '../logIn.ts'
import { type Dashboard, SCOPES, TOKENS, test, tokenOf } from '../test.ts'

const HOUR_MS = 3_600_000
const REFUSED = /^console: .*status of 40[13]/

/** Opens the page, and shows that its session is good. */
async function open({ enter }: Dashboard): Promise<Page> {
  const page = await enter('/')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}

async function expectOver(page: Page): Promise<void> {
  const banner = page.getByRole('alert').filter({ hasText: 'Your session is over.' })
  await banner.waitFor()
  await banner.getByRole('link', { name: 'Log in again' }).click()
  await page.waitForURL('**/login*')
}

const replace = async (page: Page, change: (value: string) => string) => {
  const [cookie] = await page.context().cookies()
  if (cookie === undefined) throw new Error('there is no cookie')
  await page.context().addCookies([{ ...cookie, value: change(cookie.value) }])
}

test('the cookie: for this host and path alone, from scripts and other sites away, over TLS where the page came by it', async ({
  serveDashboard,
}) => {
  const { server } = await serveDashboard()
  const set = async (origin: string, path = '') => {
    const headers = { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' }
    const answer = await fetch(`${server.origin}${path}/v1/session`, { method: 'POST', headers, body: `{"token":"${tokenOf('read')}"}` })
    return answer.headers.get('set-cookie')
  }
  const flags = 'Max-Age=43200; Path=/; HttpOnly; SameSite=Strict'
  expect(await set(server.origin)).toMatch(new RegExp(`^millrace_[0-9a-f]{8}=[\\w-]+; ${flags}$`))
  expect(await set(server.origin.replace('http:', 'https:'))).toMatch(new RegExp(`${flags}; Secure$`))
  const mounted = await serveDashboard({ http: { basePath: '/queue' } })
  const { path } = await mounted.session('read')
  expect(path).toBe('/queue')
})

test.for([
  ['of which one letter was changed', (value: string) => `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`],
  ['that was cut', (value: string) => value.slice(0, -2)],
  ['that was emptied', () => ''],
  ['of nothing but zeros', (value: string) => 'A'.repeat(value.length)],
] as const)('a cookie %s ends the session of the open page', async ([, change], { serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const page = await open(await serveDashboard())
  await replace(page, change)
  await expectOver(page)
})

test('a cookie that was sealed by another key ends the session of the open page', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const other = await serveDashboard()
  const { value } = await other.session('admin')
  const page = await open(await serveDashboard())
  await replace(page, () => value)
  await expectOver(page)
})

test('a token that is revoked ends the sessions that it began, and no others', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const known = new Map<string, Caller>(TOKENS.map(({ token, name, scopes }) => [token, { name, scopes }]))
  const dashboard = await serveDashboard({ http: { authenticate: (token) => known.get(token) } })
  const page = await open(dashboard)
  const bystander = await dashboard.enter('/', { as: 'read' })
  await bystander.getByRole('navigation', { name: 'Main' }).waitFor()
  known.delete(tokenOf('admin'))
  await expectOver(page)
  expect(await bystander.evaluate('fetch("/v1/session").then((answer) => answer.status)')).toBe(200)
})

test('a token that loses a scope loses it in the sessions that it began, too', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  let scopes: Caller['scopes'] = SCOPES.admin
  const dashboard = await serveDashboard({
    http: { authenticate: (token) => (token === tokenOf('admin') ? { name: 'a', scopes } : undefined) },
  })
  await dashboard.engine.queues.configure('billing', {})
  const page = await open(dashboard)
  scopes = ['read']
  const pause = `fetch('/v1/queues/billing/pause', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then(({ status }) => status)`
  expect(await page.evaluate(pause)).toBe(403)
  expect((await dashboard.engine.queues.get('billing'))?.paused).toBe(false)
})

/** Moves the time of the server alone. */
function moveTime(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  return (ms) => vi.setSystemTime(Date.now() + ms)
}

test('a session that is not used for 12 hours is over', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const move = moveTime()
  const page = await open(await serveDashboard())
  await page.keyboard.press('.')
  move(12 * HOUR_MS + 1_000)
  await page.keyboard.press('.')
  await expectOver(page)
})

test('a session that is used slides on, and is over after 7 days all the same', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const move = moveTime()
  const page = await open(await serveDashboard())
  const status = () => page.evaluate<number>('fetch("/v1/session").then((answer) => answer.status)')
  for (let hours = 11; hours < 7 * 24; hours += 11) {
    move(11 * HOUR_MS)
    expect(await status(), `after ${hours} hours`).toBe(200)
  }
  move(3 * HOUR_MS)
  expect(await status()).toBe(401)
  await expectOver(page)
})

test('a log-out in one tab is seen in another', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const page = await open(await serveDashboard())
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.getByRole('button', { name: /^admin · / }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL('**/login')
  await expectOver(other)
})

test('a tab for each of eight screens gets its answers, over the six connections that a browser has', async ({ serveDashboard }) => {
  const dashboard = await serveDashboard()
  const page = await open(dashboard)
  const tabs = [page]
  for (let tab = 1; tab < 8; tab++) {
    const next = await page.context().newPage()
    await next.goto(page.url())
    tabs.push(next)
  }
  for (const tab of tabs) await tab.getByText('No jobs yet').waitFor()
  await dashboard.engine.enqueue('a')
  for (const tab of tabs) await tab.getByRole('row').nth(1).waitFor()
})

test('wrong tokens lock their address out, and not the right ones', async ({ serveDashboard, guard }) => {
  void guard.expect(/^console: .*status of 4(?:01|29)/)
  const { enter, call, server } = await serveDashboard()
  const tryWrong = async () => (await call('/v1/stats', { token: 'a-guess-0123456789abcdef' })).status
  const tries = async (count: number) => Promise.all(Array.from({ length: count }, tryWrong))
  // Users, containers and a proxy share this machine's own address.
  expect(new Set(await tries(20))).toEqual(new Set([401]))
  server.from = '203.0.113.7'
  expect((await tries(20)).filter((status) => status === 401).length).toBeLessThanOrEqual(5)
  const page = await enter('/login', { as: 'nobody' })
  await page.getByLabel('Token', { exact: true }).fill('a-guess-0123456789abcdef')
  await page.getByLabel('Token', { exact: true }).press('Enter')
  await page.getByRole('alert').filter({ hasText: 'too many wrong tokens from this address' }).waitFor()
  await logIn(page, 'admin')
  server.from = '198.51.100.9'
  expect(await tryWrong()).toBe(401)
})
