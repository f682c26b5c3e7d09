/** Requests that other pages have the browser send, with the cookie of the session wherever the browser adds it. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Asked } from '../server.ts'
import { type Dashboard, test } from '../test.ts'
import { type From, openAttacker } from './attack.ts'

const FROM: readonly From[] = ['the same site', 'another site']

/** Ways to send a change without asking the server first. Each is code of the attacker's page. */
const CHANGES: Readonly<Record<string, (url: string) => string>> = {
  'plain text': (url) =>
    `fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{}' })`,
  'no body': (url) => `fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include' })`,
  'a beacon': (url) => `navigator.sendBeacon('${url}', new Blob(['{}'], { type: 'text/plain' }))`,
  'a form of JSON': (url) => `{
    const form = Object.assign(document.createElement('form'), { method: 'post', action: '${url}', enctype: 'text/plain' })
    form.append(Object.assign(document.createElement('input'), { name: '{"a":"', value: '"}' }))
    document.body.append(form)
    form.submit()
  }`,
  'JSON, after a preflight': (url) =>
    `fetch('${url}', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}' })`,
}

async function setUp({ enter, engine }: Dashboard, from: From, as: 'admin' | 'nobody' = 'admin'): Promise<Page> {
  await engine.queues.configure('billing', {})
  await engine.queues.configure('mail', {})
  await engine.queues.pause('mail')
  const page = await enter('/', { as })
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return openAttacker(page.context(), from)
}

test.for(FROM)('a change from a page of %s is refused, whichever way it is sent', async (from, { serveDashboard, guard }) => {
  // The browser notes what it was refused.
  void guard.expect(/^foreign request: /)
  void guard.expect(/./)
  const dashboard = await serveDashboard()
  const { engine, server, url } = dashboard
  const attacker = await setUp(dashboard, from)
  const home = attacker.url()
  for (const [kind, code] of Object.entries(CHANGES)) {
    // A form has led the page away.
    if (attacker.url() !== home) await attacker.goto(home)
    const since = server.asked.length
    const path = '/v1/queues/billing/pause'
    await attacker.evaluate(`void (async () => { ${code(`${url}${path}`)} })().catch(() => {})`)
    const { method, status, cookie } = await server.until(new RegExp(`^(?:POST|OPTIONS) ${path}$`), since)
    expect(status, kind).toBe(method === 'OPTIONS' ? 405 : from === 'the same site' ? 403 : 401)
    // The attack is one: the cookie is Strict, and comes all the same.
    if (method === 'POST') expect(cookie, kind).toBe(from === 'the same site')
    if (kind === 'a form of JSON') await attacker.waitForURL((at) => at.href !== home)
    expect((await engine.queues.get('billing'))?.paused, kind).toBe(false)
    expect((await engine.queues.get('mail'))?.paused, kind).toBe(true)
  }
})

test.for(FROM)('a page of %s gets no stream, no answer and no session', async (from, { serveDashboard, guard }) => {
  void guard.expect(/^foreign request: /)
  void guard.expect(/./)
  const dashboard = await serveDashboard()
  const { server, url } = dashboard
  const attacker = await setUp(dashboard, from)
  const refused = from === 'the same site' ? 403 : 401
  const since = server.asked.length
  const stream = await attacker.evaluate<number>(
    `new Promise((resolve) => { const stream = new EventSource('${url}/v1/events', { withCredentials: true }); stream.onerror = () => resolve(stream.readyState) })`,
  )
  expect(stream).toBe(2)
  expect((await server.until(/^GET \/v1\/events/, since)).status).toBe(refused)
  const kind = await attacker.evaluate<string>(
    `fetch('${url}/v1/stats', { mode: 'no-cors', credentials: 'include' }).then((answer) => answer.type, (error) => error.name)`,
  )
  expect(kind).toBe('TypeError')
  expect((await server.until(/^GET \/v1\/stats$/, since)).status).toBe(refused)
  const read = await attacker.evaluate<string>(
    `fetch('${url}/v1/jobs', { credentials: 'include' }).then((answer) => answer.text(), (error) => error.name)`,
  )
  expect(read).toBe('TypeError')
  // Neither may it log the user out, or into an account of the attacker.
  await attacker.evaluate(
    `fetch('${url}/v1/session', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{"token":"read-token-0123456789abcdef"}' }).catch(() => {})`,
  )
  expect((await server.until(/^POST \/v1\/session$/, since)).status).toBe(415)
})

test.for(FROM)('an open API refuses the changes of a page of %s', async (from, { serveDashboard, guard }) => {
  void guard.expect(/^foreign request: /)
  void guard.expect(/./)
  const dashboard = await serveDashboard({ http: { open: true } })
  const { engine, server, url } = dashboard
  const attacker = await setUp(dashboard, from, 'nobody')
  const since = server.asked.length
  const asked: Asked[] = []
  for (const kind of ['plain text', 'no body', 'a beacon']) {
    await attacker.evaluate(
      `void ${(CHANGES[kind] as (url: string) => string)(`${url}/v1/queues/billing/pause?${encodeURIComponent(kind)}`)}`,
    )
    asked.push(await server.until(new RegExp(encodeURIComponent(kind)), since))
  }
  expect(asked.map(({ status }) => status)).toEqual([403, 403, 403])
  expect((await engine.queues.get('billing'))?.paused).toBe(false)
})

test('a page of another origin can show the dashboard in no frame, unless it is named', async ({ serveDashboard, guard }) => {
  void guard.expect(/./)
  const framed = async (dashboard: Dashboard, attacker: Page) => {
    await attacker.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: '${dashboard.url}/login' }))`)
    const frame = await attacker.waitForEvent('framenavigated', { predicate: (each) => each !== attacker.mainFrame() })
    return frame.url()
  }
  const closed = await serveDashboard()
  const attacker = await setUp(closed, 'the same site')
  expect(await framed(closed, attacker)).toMatch(/^chrome-error:/)
  const { dashboardFiles } = await import('@millrace/dashboard')
  const frameAncestors = [new URL(attacker.url()).origin]
  const opened = await serveDashboard({ http: { dashboard: { files: await dashboardFiles(), frameAncestors } } })
  expect(await framed(opened, attacker)).toBe(`${opened.url}/login`)
})
