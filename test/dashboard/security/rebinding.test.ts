/** DNS rebinding: a page under a name of the attacker, which then points at this machine, is of the same origin. */
import { expect } from 'vitest'
import { launch, openContext } from '../../browser/launch.ts'
import { type Dashboard, test, tokenOf } from '../test.ts'

const NAME = 'rebound.example'

interface Seen {
  readonly read: number
  readonly change: number
  readonly logIn: number
}

/** Returns the statuses that a page under the name gets, in a browser for which the name is this machine. */
async function statusesUnder(name: string, { server }: Dashboard, browser: Awaited<ReturnType<typeof launch>>): Promise<Seen> {
  const page = await (await openContext(browser)).newPage()
  // The page itself is nothing of the queue, and its policy lets it call its own origin.
  await page.goto(`http://${name}:${server.port}/login`)
  const status = (call: string) => page.evaluate<number>(`${call}.then((answer) => answer.status)`)
  const json = `headers: { 'content-type': 'application/json' }`
  return {
    read: await status(`fetch('/v1/queues')`),
    change: await status(`fetch('/v1/queues/billing/pause', { method: 'POST', ${json}, body: '{}' })`),
    logIn: await status(`fetch('/v1/session', { method: 'POST', ${json}, body: '{"token":"${tokenOf('admin')}"}' })`),
  }
}

test('a rebound page reads nothing and changes nothing', async ({ serveDashboard, chromium, visit }) => {
  // Without a browser the test is skipped here.
  void visit
  if ('missing' in chromium) return
  const browser = await launch(chromium, [`--host-resolver-rules=MAP ${NAME} 127.0.0.1`])
  try {
    const open = await serveDashboard({ http: { open: true } })
    await open.engine.queues.configure('billing', {})
    expect(await statusesUnder(NAME, open, browser)).toEqual({ read: 403, change: 403, logIn: 403 })
    expect((await open.engine.queues.get('billing'))?.paused).toBe(false)

    const withTokens = await serveDashboard()
    await withTokens.engine.queues.configure('billing', {})
    // It may log in, as anybody who knows the token may.
    expect(await statusesUnder(NAME, withTokens, browser)).toEqual({ read: 401, change: 401, logIn: 204 })
    const named = await serveDashboard({ http: { allowedHosts: ['jobs.example'] } })
    expect(await statusesUnder(NAME, named, browser)).toEqual({ read: 403, change: 403, logIn: 403 })

    // The names that are allowed are reached by the same browser: it is the rule that refuses, and not the network.
    const allowed = await serveDashboard({ http: { open: true, allowedHosts: [NAME] } })
    await allowed.engine.queues.configure('billing', {})
    expect(await statusesUnder(NAME, allowed, browser)).toEqual({ read: 200, change: 204, logIn: 501 })
    expect(await statusesUnder('localhost', open, browser)).toMatchObject({ read: 200, change: 204 })
  } finally {
    await browser.close()
  }
})
