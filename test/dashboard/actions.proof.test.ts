/**
 * Each action by the name of its button, on the screen that has it: a token that may use it sees it, for every other one it is absent and
 * the server refuses the same call.
 */
import { randomUUID } from 'node:crypto'
import type { HttpOptions } from '@millrace/http'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Filled, fill } from './fill.ts'
import { type Dashboard, SCOPES, test, type Who } from './test.ts'

type Action = readonly [name: string, scope: 'admin' | 'enqueue', call: string]

interface Shown {
  readonly path: string
  /** A sentence or a name that is there once the screen is. */
  readonly ready: string
  readonly actions: readonly Action[]
}

const ENDPOINT = {
  id: 'crm',
  url: 'https://example.com/crm',
  events: ['failed'],
  enabled: true,
  createdAt: new Date(0),
  cursor: 0,
} as const
const OFF = { ...ENDPOINT, id: 'old', enabled: false }
const KEPT = { id: randomUUID(), name: 'ci', scopes: ['read'], createdAt: 0 } as const

/** Parts of the API that only a daemon has. Nothing reaches them here. */
const PARTS = {
  webhooks: { list: async () => [ENDPOINT, OFF], add: refuse, enable: refuse, disable: refuse, remove: refuse },
  tokens: { list: () => [KEPT], create: refuse, revoke: refuse, audited: () => [] },
} as unknown as Partial<HttpOptions>

function refuse(): never {
  throw new Error('a call that a token does not allow has reached its target')
}

function screensOf({ ids }: Filled, fingerprint: string): readonly Shown[] {
  const job = (id: string) => `/v1/jobs/${id}`
  return [
    {
      path: '/',
      ready: 'imports is paused',
      actions: [
        ['Retry…', 'admin', 'POST /v1/jobs:retry'],
        ['Pause queue', 'admin', 'POST /v1/queues/search/pause'],
        ['Resume', 'admin', 'POST /v1/queues/imports/resume'],
      ],
    },
    {
      path: '/jobs?state=failed',
      ready: 'SmtpError',
      actions: [
        ['Select all that match', 'admin', 'POST /v1/jobs:delete'],
        ['New job', 'enqueue', 'POST /v1/jobs'],
      ],
    },
    {
      path: `/jobs/${ids.failed}`,
      ready: 'PaymentDeclined',
      actions: [
        ['Retry', 'admin', `POST ${job(ids.failed)}/retry`],
        ['Delete…', 'admin', `DELETE ${job(ids.failed)}`],
        ['Edit a copy', 'enqueue', 'POST /v1/jobs'],
      ],
    },
    { path: `/jobs/${ids.active}`, ready: 'worker-fra-2', actions: [['Cancel', 'admin', `POST ${job(ids.active)}/cancel`]] },
    {
      path: `/jobs/${ids.scheduled}`,
      ready: 'Timeline',
      actions: [
        ['Run now', 'admin', `POST ${job(ids.scheduled)}/run`],
        ['Change…', 'admin', `PATCH ${job(ids.scheduled)}`],
      ],
    },
    {
      path: `/errors?group=${fingerprint}`,
      ready: 'Show failed jobs',
      actions: [
        ['Retry 9…', 'admin', 'POST /v1/jobs:retry'],
        ['Delete 9…', 'admin', 'POST /v1/jobs:delete'],
        ['Pause send-welcome', 'admin', 'POST /v1/queues/mail/pause'],
      ],
    },
    { path: '/queues', ready: 'billing', actions: [['Pause all…', 'admin', 'POST /v1/engine/pause']] },
    {
      path: '/queues/billing',
      ready: 'Limits and settings',
      actions: [
        ['Pause', 'admin', 'POST /v1/queues/billing/pause'],
        ['Drain…', 'admin', 'POST /v1/queues/billing/drain'],
        ['Purge…', 'admin', 'POST /v1/queues/billing/purge'],
        ['Delete queue…', 'admin', 'DELETE /v1/queues/billing'],
        ['Pause charge', 'admin', 'POST /v1/queues/billing/pause'],
        ['Pause key', 'admin', 'POST /v1/queues/billing/pause'],
        ['Jobs at a time', 'admin', 'PUT /v1/queues/billing'],
      ],
    },
    {
      path: `/flows/${ids.flow}?job=${ids.blocked}`,
      ready: 'Open the job',
      actions: [['Cancel 1…', 'admin', `POST ${job(ids.blocked)}/cancel`]],
    },
    {
      path: '/schedules?schedule=cleanup',
      ready: 'Nothing is due while it is paused.',
      actions: [
        ['New schedule', 'admin', 'POST /v1/schedules'],
        ['Run now', 'admin', 'POST /v1/schedules/cleanup/trigger'],
        ['Resume', 'admin', 'POST /v1/schedules/cleanup/resume'],
        ['Edit…', 'admin', 'PATCH /v1/schedules/cleanup'],
        ['Delete…', 'admin', 'DELETE /v1/schedules/cleanup'],
      ],
    },
    { path: '/workers', ready: 'worker-fra-1', actions: [['Stop… worker-fra-1', 'admin', 'POST /v1/workers/worker-fra-1/stop']] },
    { path: '/events', ready: 'Following', actions: [] },
    {
      path: '/webhooks',
      ready: 'https://example.com/crm',
      actions: [
        ['Disable…', 'admin', 'POST /v1/webhooks/crm/disable'],
        ['Enable', 'admin', 'POST /v1/webhooks/old/enable'],
      ],
    },
    {
      path: '/settings',
      ready: 'Installation',
      actions: [
        ['New token…', 'admin', 'POST /v1/tokens'],
        ['Revoke…', 'admin', `DELETE /v1/tokens/${KEPT.id}`],
      ],
    },
  ]
}

/** The names of all controls of the screen, those in closed menus as well. */
const NAMES = `[...document.querySelectorAll('main .top ~ .page :is(button, input), main .top > .btn')].map((control) =>
  control.getAttribute('aria-label') ?? control.labels?.[0]?.textContent ??
  [...control.childNodes].filter(({ nodeName }) => nodeName !== 'KBD').map(({ textContent }) => textContent).join('').trim())`

async function openScreen(page: Page, { url }: Dashboard, { path, ready }: Shown): Promise<void> {
  await page.goto(`${url}${path}`)
  await page.locator('main').getByText(ready).first().waitFor()
}

function allows(who: Who, scope: string): boolean {
  return SCOPES[who].some((own) => own === scope)
}

async function codeOf(page: Page, call: string): Promise<string> {
  const [method, path] = call.split(' ')
  const init = `{ method: '${method}', headers: { 'content-type': 'application/json' }, body: '{}' }`
  return page.evaluate<string>(`fetch('${path}', ${init}).then((answer) => answer.json()).then(({ code }) => code)`)
}

test.for(['read', 'enqueue', 'work', 'admin'] as const)(
  'for %s: what its scopes allow is there by its name, all else is absent, and refused',
  { timeout: 120_000 },
  async (who, { serveDashboard, guard }) => {
    const dashboard = await serveDashboard({ http: PARTS })
    const filled = await fill(dashboard.engine)
    const groups = await dashboard.engine.failures()
    const { fingerprint = '' } = groups.find(({ name }) => name === 'send-welcome') ?? {}
    const before = await statesOf(dashboard)
    const page = await dashboard.enter('/login', { as: who })
    if (who !== 'admin') void guard.expect(/status of 403/)
    for (const screen of screensOf(filled, fingerprint)) {
      await openScreen(page, dashboard, screen)
      const names = () => page.evaluate<string[]>(NAMES)
      // Some wait for a count. What is not allowed is looked for once all that is allowed is there.
      for (const [name, scope] of screen.actions) if (allows(who, scope)) await expect.poll(names, { message: screen.path }).toContain(name)
      const shown = await names()
      for (const [name, scope, call] of screen.actions) {
        expect(shown.includes(name), `${name} on ${screen.path}`).toBe(allows(who, scope))
        if (!allows(who, scope)) expect(await codeOf(page, call), call).toBe('FORBIDDEN')
      }
    }
    expect(await statesOf(dashboard)).toEqual(before)
  },
)

async function statesOf({ engine }: Dashboard): Promise<unknown> {
  const { states, paused } = await engine.stats()
  return { states, paused, queues: (await engine.queues.list()).map(({ name, paused }) => [name, paused]) }
}
