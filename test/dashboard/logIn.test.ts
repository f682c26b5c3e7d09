/** The log-in: what a person does, what the browser keeps, and where it leads. */
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { logIn } from './logIn.ts'
import { test, tokenOf } from './test.ts'

/** The browser notes each 401 as an error: of the page's question who is logged in, and of a wrong token. */
const REFUSED = /^console: .*status of 401.*\/v1\/session\)$/

test('nobody sees the queue: the log-in comes first, and leads back to the wanted address', async ({ serveDashboard, guard }) => {
  const refused = guard.expect(REFUSED)
  const { enter, server } = await serveDashboard()
  const page = await enter('/?period=24h', { as: 'nobody' })
  await page.waitForURL('**/login?next=*')
  await refused
  expect(server.asked.filter(({ path, status }) => path.startsWith('/v1/') && status !== 401)).toEqual([])
  expect(await page.locator('#token:focus').count()).toBe(1)
  await logIn(page, 'admin')
  await expect.poll(() => new URL(page.url()).search).toBe('?period=24h')
})

test('by the keyboard alone: paste the token, press Enter', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const { enter } = await serveDashboard()
  const page = await enter('/', { as: 'nobody' })
  await page.locator('#token:focus').waitFor()
  await task(page, { clicks: 0, keys: 1 }, async (user) => {
    await user.type(`Bearer ${tokenOf('read')}`)
    await user.press('Enter')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  })
  expect(await page.getByRole('button', { name: /^read · read/ }).count()).toBe(1)
})

test('a wrong token is refused in words, and can be corrected where it stands', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const { enter } = await serveDashboard()
  const page = await enter('/login', { as: 'nobody' })
  const field = page.getByLabel('Token', { exact: true })
  await field.fill('not-a-token-of-this-queue')
  await field.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This token is not known' }).waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  expect(await page.locator('#token:focus').count()).toBe(1)
  await expectAccessible(page)
  await logIn(page, 'admin')
})

test('the browser keeps a session, and the token nowhere', async ({ serveDashboard, guard }) => {
  void guard.expect(REFUSED)
  const { enter } = await serveDashboard()
  const page = await enter('/', { as: 'nobody' })
  await page.waitForURL('**/login')
  await logIn(page, 'admin')
  const kept = await page.evaluate<string>(
    'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML])',
  )
  expect(kept).not.toContain(tokenOf('admin'))
  expect(kept).not.toContain('millrace_')
  const cookies = await page.context().cookies()
  expect(cookies).toMatchObject([{ name: expect.stringMatching(/^millrace_[0-9a-f]{8}$/), httpOnly: true, sameSite: 'Strict', path: '/' }])
  expect(JSON.stringify(cookies)).not.toContain(tokenOf('admin'))
  const databases = await page.evaluate<number>('Promise.all([indexedDB.databases(), caches.keys()]).then((all) => all.flat().length)')
  expect(databases).toBe(0)
})

test('log-out ends the session: in two clicks, and going back shows nothing', async ({ serveDashboard, guard }) => {
  const refused = guard.expect(REFUSED)
  const { enter } = await serveDashboard()
  const page = await enter('/')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await task(page, 2, async (user) => {
    await user.click(page.getByRole('button', { name: /^admin · / }))
    await user.click(page.getByRole('button', { name: 'Log out' }))
  })
  await page.waitForURL('**/login')
  expect(await page.context().cookies()).toEqual([])
  await page.goBack()
  await page.waitForURL('**/login')
  await refused
  expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0)
})

test('a token without the scope read is told so, and asks for nothing', async ({ serveDashboard }) => {
  const { enter, server } = await serveDashboard()
  const page = await enter('/', { as: 'blind' })
  await page.getByText('Your token has no read scope').waitFor()
  expect(server.asked.filter(({ path }) => path.startsWith('/v1/')).map(({ path }) => path)).toEqual(['/v1/session', '/v1/session'])
})

const ELSEWHERE = [
  '//evil.example/',
  '/\\evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/\t/evil.example',
  '\t//evil.example',
]

test('the address to return to is one of the page itself', async ({ serveDashboard }) => {
  const { enter, url } = await serveDashboard()
  const page = await enter('/login', { as: 'nobody' })
  for (const next of ELSEWHERE) {
    await page.context().clearCookies()
    await page.goto(`${url}/login?next=${encodeURIComponent(next)}`)
    await page.getByLabel('Token', { exact: true }).fill(tokenOf('admin'))
    await Promise.all([page.waitForEvent('framenavigated'), page.getByLabel('Token', { exact: true }).press('Enter')])
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(new URL(page.url()).origin, next).toBe(url)
  }
})

test('an open API needs no log-in, and offers no log-out', async ({ serveDashboard }) => {
  const { enter } = await serveDashboard({ http: { open: true } })
  const page = await enter('/', { as: 'nobody' })
  await page.getByRole('button', { name: /^No log-in needed/ }).click()
  await page.getByRole('button', { name: 'Dark' }).waitFor()
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0)
})
