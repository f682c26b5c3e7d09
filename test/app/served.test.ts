/** The dashboard as the daemon serves it: its page and files, how to log in, and how to turn it off. */
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { startDaemonHere, tokenIn } from './daemon.ts'

const PAGE = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

test('M11, Q7, T6: the daemon prints where the dashboard is, and how to log in; the first token opens it', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemonHere(folder, { flags: { 'http-instance-name': 'staging' } })
  const { url, dashboard } = await daemon.serving
  expect(dashboard).toBe(url)
  const page = await fetch(`${dashboard}/`)
  expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-store',
  ])
  const html = await page.text()
  expect(html).toContain('<meta name="base-path" content="" />')
  const assets = [...html.matchAll(/"(\/assets\/[^"#]+)"/g)].map(([, path]) => path as string)
  expect(assets).toHaveLength(3)
  for (const path of assets) expect((await fetch(`${dashboard}${path}`)).headers.get('cache-control')).toContain('immutable')

  const body = JSON.stringify({ token: tokenIn(folder) })
  const session = await fetch(`${url}/v1/session`, { method: 'POST', headers: PAGE, body })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(await (await fetch(`${url}/v1/info`, { headers: { cookie } })).json()).toMatchObject({ instance: { name: 'staging' } })
  daemon.signal('SIGTERM')
  expect((await daemon.ended).stderr).toMatch(new RegExp(`\nLog in with it at ${url}\n$`))
})

test('http.dashboard.enabled = false: a page with links in its place, and nobody is sent to a dashboard', async () => {
  const daemon = startDaemonHere(temporaryFolder(), { flags: { 'http-dashboard-enabled': 'false' } })
  const { url, dashboard } = await daemon.serving
  expect(dashboard).toBeUndefined()
  expect(await (await fetch(`${url}/`)).text()).toContain('<a href="/docs">')
  expect((await fetch(`${url}/login`)).status).toBe(404)
  daemon.signal('SIGTERM')
  expect((await daemon.ended).stderr).not.toContain('Log in')
})

test('a daemon without HTTP says nothing of a dashboard', async () => {
  const daemon = startDaemonHere(temporaryFolder(), { flags: { 'http-enabled': 'false' } })
  expect(await daemon.serving).not.toHaveProperty('dashboard')
  daemon.signal('SIGTERM')
  expect((await daemon.ended).stderr).not.toContain('Log in')
})
