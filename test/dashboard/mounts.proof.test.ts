/** The dashboard in apps of others, at a path of theirs: each file of docs/http.md as it stands, with the page added to it. */
import { expect } from 'vitest'
import { expectAccessible } from '../browser/accessible.ts'
import type { Visit } from '../browser/test.ts'
import { codeAfter, folderWith, startApp, TOKEN } from '../http/mounted.ts'
import { test } from './test.ts'

const LONG = 180_000

/** Returns the code with the option of docs/dashboard.md. */
function withPage(code: string): string {
  const added = code.replace('token: process.env.QUEUE_TOKEN', '$&, dashboard: { files: await dashboardFiles() }')
  if (added === code) throw new Error('the code has no token to put the page behind')
  return `import { dashboardFiles } from '@millrace/dashboard'\n${added}`
}

/** Everything that the page has to do at a mount: load, log in, ask again and again, change something, and stream. */
async function works(visit: Visit, origin: string, base: string, entry = base): Promise<void> {
  const page = await visit(`${origin}${entry}`)
  await page.waitForURL(`${origin}${base}/login`)
  await page.getByLabel('Token', { exact: true }).fill(TOKEN)
  await page.getByLabel('Token', { exact: true }).press('Enter')
  await page.getByText('No jobs yet').waitFor()
  expect(await page.context().cookies()).toMatchObject([{ path: base === '' ? '/' : base, httpOnly: true, sameSite: 'Strict' }])

  const streamed = page.evaluate<string>(
    `new Promise((resolve) => new EventSource('${base}/v1/events').addEventListener('enqueued', ({ data }) => resolve(JSON.parse(data).name)))`,
  )
  const enqueue = `fetch('${base}/v1/jobs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"job":"by-the-page"}' })`
  expect(await page.evaluate<number>(`${enqueue}.then(({ status }) => status)`)).toBe(201)
  expect(await streamed).toBe('by-the-page')
  await page.getByRole('row').filter({ hasText: 'default' }).waitFor()

  const loaded = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)')
  expect(loaded.filter((path) => !path.startsWith(`${base}/`))).toEqual([])
  expect(loaded.some((path) => path.startsWith(`${base}/assets/`))).toBe(true)

  // A screen that is opened by its address is the app's too.
  await page.goto(`${origin}${base}/jobs?state=waiting`)
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`${base}/jobs`)
  await expectAccessible(page)
  await page.context().close()
}

test('a server of node:http', { timeout: LONG }, async ({ visit, guard }) => {
  void guard.expect(/status of 401/)
  await works(visit, await startApp(folderWith('server.ts', withPage(codeAfter('# The queue over HTTP')))), '', '/')
})

test.for([
  ['Hono', '/queue'],
  ['Express', '/queue'],
  ['Fastify', '/queue/'],
] as const)('%s, from %s', { timeout: LONG }, async ([name, entry], { visit, guard }) => {
  void guard.expect(/status of 401/)
  const origin = await startApp(folderWith('server.ts', withPage(codeAfter(`**${name}**`))))
  expect(await (await fetch(origin)).text()).toBe('an app')
  await works(visit, origin, '/queue', entry)
})

test('Next: the functions of a route handler, by method', { timeout: LONG }, async ({ visit, guard }) => {
  void guard.expect(/status of 401/)
  const route = folderWith('route.ts', withPage(codeAfter('**Next**')))
  await works(visit, await startApp(new URL('../http/programs/next.ts', import.meta.url), route.href), '/queue')
})
