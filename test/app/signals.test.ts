/** M13: SIGTERM and SIGINT. Stop taking, wait for what runs, stop the rest, close. */
import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { family, startRoll } from '../exec/roll.ts'
import { temporaryFolder } from '../temporary.ts'
import { attached, HANDLERS, startDaemon } from './daemon.ts'
import { HANDLERS as GATE, Place } from './millrace.ts'

const working = (folder: string, flags: Record<string, string | number> = {}) =>
  startDaemon(folder, { flags: { 'worker-handlers': HANDLERS, ...flags } })

test.each(['SIGTERM', 'SIGINT'] as const)('M13: %s lets a running job finish; what waits stays for the next start', async (signal) => {
  const folder = temporaryFolder()
  const daemon = working(folder, { 'worker-concurrency': 1 })
  const engine = await attached(daemon, folder)
  const [held, waiting] = await Promise.all([engine.enqueue('hold'), engine.enqueue('quick', 5)])
  await daemon.said(/^holding/)
  const { url } = await daemon.serving
  daemon.child.kill(signal)
  await daemon.said(/"msg":"draining"/)
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  daemon.child.stdin.write('go\n')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  expect(daemon.lines.filter((line) => line.startsWith('held'))).toHaveLength(1)
  await engine.stop({ timeout: 0 })

  const next = await attached(working(folder), folder)
  expect(await next.get(held.id)).toMatchObject({ state: 'completed', attempt: 1 })
  await (await next.enqueue('quick', 6)).result()
  expect(await next.get(waiting.id)).toMatchObject({ state: 'completed', attempt: 1, output: 5 })
})

test('M13: what runs longer than shutdown.timeout is aborted, and given back without an attempt', async () => {
  const folder = temporaryFolder()
  const daemon = working(folder, { 'shutdown-timeout': 100 })
  const engine = await attached(daemon, folder)
  const { id } = await engine.enqueue('hold')
  await daemon.said(/^holding/)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  await engine.stop({ timeout: 0 })
  const again = working(folder)
  const next = await attached(again, folder)
  await again.said(/^holding/)
  expect(await next.get(id)).toMatchObject({ state: 'active', run: 2, attempt: 1 })
})

test('M13: a handler that hears nothing holds nothing up', async () => {
  const folder = temporaryFolder()
  const daemon = working(folder, { 'shutdown-timeout': 50, 'worker-abort-grace': 50 })
  const engine = await attached(daemon, folder)
  await engine.enqueue('deaf')
  await daemon.said(/^deaf/)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('M13: a second %s ends it at once, with %i; the job runs again at the next start', async (signal, code) => {
  const folder = temporaryFolder()
  const daemon = working(folder)
  const engine = await attached(daemon, folder)
  const { id } = await engine.enqueue('hold')
  await daemon.said(/^holding/)
  daemon.child.kill('SIGTERM')
  await daemon.said(/"msg":"draining"/)
  daemon.child.kill(signal)
  expect((await daemon.ended).code).toBe(code)
  await engine.stop({ timeout: 0 })
  const again = working(folder)
  await again.said(/^holding \S+ 2$/)
  expect(await (await attached(again, folder)).get(id)).toMatchObject({ state: 'active', run: 2 })
})

test('5.4: a second signal leaves nothing of a command behind, without a folder of logs too', async () => {
  const folder = temporaryFolder()
  const roll = await startRoll()
  const daemon = startDaemon(folder, { env: { MILLRACE_EXEC: JSON.stringify({ family: family(true) }) } })
  const engine = await attached(daemon, folder)
  await engine.enqueue('family', { roll: roll.path })
  await Promise.all([roll.here('child'), roll.here('grandchild')])
  daemon.child.kill('SIGTERM')
  await daemon.said(/"msg":"draining"/)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(143)
  await Promise.all([roll.gone('child'), roll.gone('grandchild')])
})

test('M13: a daemon whose log nobody reads any more drains as any other', async () => {
  const place = new Place()
  const daemon = place.start('serve', '--http-port', '0', '--worker-handlers', GATE)
  const { url, sockets } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { url: string; sockets: readonly string[] }
  const bystander = (await place.ok('enqueue', 'nobodys', '1')).trim()
  const id = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))).trim()
  await place.made('begun')
  daemon.child.stdout.destroy()
  daemon.child.kill('SIGTERM')
  while ((await fetch(`${url}/readyz`)).status !== 503);
  writeFileSync(place.path('open'), '')
  expect(await daemon.ended).toMatchObject({ code: 0, signal: null })
  expect(sockets.map((socket) => existsSync(socket.replace(/^unix:/, '')))).toEqual([false])
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ state: 'completed', attempt: 1 })
  expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', run: 0 })
})

test('M13: a signal while it starts is obeyed when it has started', async () => {
  const IMPATIENT = new URL('./programs/impatientHandlers.ts', import.meta.url).pathname
  const daemon = startDaemon(temporaryFolder(), { flags: { 'worker-handlers': IMPATIENT } })
  expect(await daemon.ended).toMatchObject({ code: 0 })
  const said = daemon.lines.flatMap((line) => /"msg":"(serving|draining|closed)"/.exec(line)?.[1] ?? [])
  expect(said).toEqual(['serving', 'draining', 'closed'])
})
