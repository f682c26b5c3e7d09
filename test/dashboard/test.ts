/** `test` for the dashboard: a real engine, its API with the page, a token of each scope, and a browser that is logged in. */
import { dashboardFiles } from '@millrace/dashboard'
import type { Engine } from '@millrace/engine'
import { createHttp, type HttpOptions } from '@millrace/http'
import type { Page } from 'playwright-core'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { test as base, type Visit } from '../browser/test.ts'
import type { VisitOptions } from '../browser/window.ts'
import { PageServer } from './server.ts'

/** The scopes of each token, by the name of the token. */
export const SCOPES = {
  admin: ['enqueue', 'work', 'read', 'admin', 'send'],
  read: ['read'],
  enqueue: ['enqueue', 'read'],
  work: ['work', 'read'],
  blind: ['enqueue'],
} as const satisfies Readonly<Record<string, HttpScopes>>

type HttpScopes = NonNullable<Extract<HttpOptions['token'], readonly unknown[]>[number]['scopes']>
export type Who = keyof typeof SCOPES

export const tokenOf = (who: Who): string => `${who}-token-0123456789abcdef`
export const TOKENS = (Object.keys(SCOPES) as Who[]).map((name) => ({ token: tokenOf(name), name, scopes: SCOPES[name] }))

export interface DashboardOptions {
  /** The engine to show. Default: an empty one in memory. */
  readonly engine?: Engine
  /** Options of `createHttp` in place of the tokens of each scope, or beside them. */
  readonly http?: Partial<HttpOptions>
}

export interface EnterOptions extends VisitOptions {
  /** The token of the session, or `nobody` for none. Default `admin`. */
  readonly as?: Who | 'nobody'
}

export interface Dashboard {
  readonly engine: Engine
  readonly server: PageServer
  /** The address that the page is mounted at: the origin, with the base path if there is one. */
  readonly url: string
  /** Opens a path in a context of its own, with a session that has begun already. */
  enter(path?: string, options?: EnterOptions): Promise<Page>
  /** Begins a session, and returns its cookie as the browser keeps it. */
  session(who: Who): Promise<SessionCookie>
  /** Calls the API by a token, as a program does. */
  call(path: string, init?: RequestInit & { readonly token?: string }): Promise<Response>
}

interface SessionCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly path: string
  readonly expires: number
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'Strict'
}

export type Serve = (options?: DashboardOptions) => Promise<Dashboard>

/** The files of the page, which are read once for all tests of a process. */
let files: ReturnType<typeof dashboardFiles> | undefined

export const test = base.extend('serveDashboard', async ({ visit, task: _ }, { onCleanup }): Promise<Serve> => {
  const ends: (() => Promise<void>)[] = []
  const pages: Page[] = []
  onCleanup(async () => {
    // A page that is open would notice the end of its server.
    for (const page of pages) await leave(page)
    for (const end of ends.toReversed()) await end()
  })
  const open: Visit = async (url, options) => {
    const page = await visit(url, options)
    pages.push(page)
    return page
  }
  return async ({ engine: given, http } = {}) => {
    const engine = given ?? openInThread()
    ends.push(() => engine.stop({ timeout: 0 }))
    const options = http?.open === undefined && http?.authenticate === undefined ? { token: TOKENS, ...http } : http
    files ??= dashboardFiles()
    const api = createHttp(engine, { dashboard: { files: await files }, ...options })
    const server = new PageServer(api.fetch)
    await server.start()
    ends.push(() => server.end())
    return dashboardOf(engine, server, http?.basePath ?? '', open)
  }
})

async function leave(page: Page): Promise<void> {
  for (const other of page.context().pages()) if (other !== page) await other.close()
  if (!page.isClosed()) await page.goto('about:blank')
}

function dashboardOf(engine: Engine, server: PageServer, basePath: string, visit: Visit): Dashboard {
  const url = `${server.origin}${basePath}`
  const session = async (who: Who) => {
    const response = await fetch(`${url}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.origin },
      body: JSON.stringify({ token: tokenOf(who) }),
    })
    const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    const [name = '', value = ''] = pair.split('=')
    if (value === '') throw new Error(`the log-in of ${who} failed: ${response.status} ${await response.text()}`)
    const flags = { expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' } as const
    return { name, value, domain: '127.0.0.1', path: basePath === '' ? '/' : basePath, ...flags }
  }
  return {
    engine,
    server,
    url,
    session,
    async enter(path = '/', { as = 'admin', ...options } = {}) {
      const cookies = as === 'nobody' ? [] : [await session(as)]
      return visit(`${url}${path}`, { storageState: { cookies, origins: [] }, ...options })
    },
    call(path, { token = tokenOf('admin'), headers, ...init } = {}) {
      return fetch(`${url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      })
    },
  }
}
