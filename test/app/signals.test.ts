/** M13: SIGTERM and SIGINT. Stop taking, wait for what runs, stop the rest, close. */
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { openEngine } from '@millrace/engine'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run } from '../../apps/millrace/src/cli/run.ts'
import { SCHEMA } from '../../apps/millrace/src/config/schema/schema.ts'
import type { Host } from '../../apps/millrace/src/host.ts'
import { serve } from '../../apps/millrace/src/serve/serve.ts'
import type { Making } from '../../packages/sqlite/src/access.ts'
import { lockOwner } from '../../packages/sqlite/src/owner/lock.ts'
import { family, startRoll } from '../exec/roll.ts'
import { insist } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { attached, HANDLERS, startDaemon, startDaemonHere } from './daemon.ts'
import { startHere } from './here.ts'
import { HANDLERS as GATE, Place } from './millrace.ts'

/** No page is asked for. */
const PLAIN = { 'http-dashboard-enabled': 'false' }

const working = (folder: string, flags: Record<string, string | number> = {}) =>
  startDaemon(folder, { flags: { ...PLAIN, 'worker-handlers': HANDLERS, ...flags } })

/** A daemon in this process, on the file of the place. */
const gated = (place: Place, flags: Record<string, string | number> = {}) =>
  startDaemonHere(place.folder, { flags: { ...PLAIN, 'worker-handlers': GATE, ...flags } })

const gateOf = (place: Place) => ({ begun: place.path('begun'), open: place.path('open') })

test.each([
  ['SIGTERM', startDaemon],
  ['SIGINT', startDaemonHere],
  ['SIGHUP', startDaemonHere],
] as const)('M13: %s lets a running job finish; what waits stays for the next start', async (signal, start) => {
  const place = new Place()
  const daemon = start(place.folder, { flags: { ...PLAIN, 'worker-handlers': GATE, 'worker-concurrency': 1, 'shutdown-timeout': '30s' } })
  const engine = await attached(daemon, place.folder)
  const [held, waiting] = await Promise.all([engine.enqueue('gate', gateOf(place)), engine.enqueue('echo', 5)])
  await place.made('begun')
  const { url } = await daemon.serving
  daemon.signal(signal)
  await daemon.said(/"msg":"draining"/)
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  writeFileSync(place.path('open'), '')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  await engine.stop({ timeout: 0 })

  const next = await attached(gated(place), place.folder)
  expect(await next.get(held.id)).toMatchObject({ state: 'completed', attempt: 1, run: 1 })
  await (await next.enqueue('echo', 6)).result()
  expect(await next.get(waiting.id)).toMatchObject({ state: 'completed', attempt: 1, output: 5 })
})

test('M13: what runs longer than shutdown.timeout is aborted, and given back without an attempt', async () => {
  const place = new Place()
  const daemon = gated(place, { 'shutdown-timeout': 100 })
  const engine = await attached(daemon, place.folder)
  const { id } = await engine.enqueue('gate', gateOf(place))
  await place.made('begun')
  daemon.signal('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  await engine.stop({ timeout: 0 })
  rmSync(place.path('begun'))
  const next = await attached(gated(place), place.folder)
  await place.made('begun')
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
  ['SIGHUP', 129],
] as const)(
  'M13, 5.4: a second %s ends it at once, with %i, and leaves nothing of a command behind, without a folder of logs too; the job runs again at the next start',
  async (signal, code) => {
    const place = new Place()
    const roll = await startRoll()
    const exec = { MILLRACE_EXEC: JSON.stringify({ family: family(true) }) }
    const daemon = startDaemon(place.folder, { flags: { ...PLAIN, 'worker-handlers': GATE }, env: exec })
    const engine = await attached(daemon, place.folder)
    const [{ id }] = await Promise.all([engine.enqueue('gate', gateOf(place)), engine.enqueue('family', { roll: roll.path })])
    await Promise.all([place.made('begun'), roll.here('child'), roll.here('grandchild')])
    daemon.signal('SIGTERM')
    await daemon.said(/"msg":"draining"/)
    await insist(daemon, signal)
    expect((await daemon.ended).code).toBe(code)
    await Promise.all([roll.gone('child'), roll.gone('grandchild')])
    await engine.stop({ timeout: 0 })
    rmSync(place.path('begun'))
    const again = gated(place)
    await place.made('begun')
    expect(await (await attached(again, place.folder)).get(id)).toMatchObject({ state: 'active', run: 2 })
  },
)

test('M13: a daemon whose log nobody reads any more drains as any other', async () => {
  const place = new Place()
  const daemon = place.start('serve', '--http-port', '0', '--http-dashboard-enabled=false', '--worker-handlers', GATE)
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

test.each([
  ['serve', ['serve', '--http-port', '0', '--http-dashboard-enabled=false'], /"msg":"serving"/],
  ['demo', ['demo', 'start', '--port', '0', '--json'], /"url"/],
  ['worker start', ['worker', 'start', '--handlers', GATE], /is ready/],
  ['demo worker', ['demo', 'worker'], /is ready/],
] as const)('M13: %s listens for signals without a gap, in which Node would drop one that is on its way', async (_name, args, ready) => {
  const place = new Place()
  await place.serve()
  const left = vi.fn<Host['off']>()
  const program = startHere(
    (host) => {
      const { off } = host
      Object.assign(host, { off: (...given: Parameters<Host['off']>) => left(...given) ?? off(...given) })
      return run(args, host)
    },
    {
      ...(process.env as Record<string, string>),
      MILLRACE_STATE_DIR: place.path('state'),
      ...(args[0] === 'serve' ? { MILLRACE_FILE: place.path('own.db') } : { MILLRACE_URL: place.url as string }),
    },
  )
  await program.said(ready)
  expect(left).not.toHaveBeenCalled()
  program.signal('SIGHUP')
  expect(await program.ended).toMatchObject({ code: 0 })
})

test('M13: a signal while it starts ends the start, and what was open is closed', async () => {
  const impatient = new URL('./programs/impatientHandlers.ts', import.meta.url).pathname
  const place = new Place()
  const daemon = startDaemon(place.folder, { flags: { ...PLAIN, 'worker-handlers': impatient } })
  expect(await daemon.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expect(daemon.lines).toEqual([])
  // A log would have to be recovered, and a token would have been shown to nobody.
  expect(readdirSync(place.folder).filter((name) => /-(?:wal|shm|token|socket)$/.test(name))).toEqual([])
})

test('M13: a daemon whose file has another owner, for which it would wait, ends at the first signal, with 0', async () => {
  const place = new Place()
  const owner = await openEngine({ file: place.file, durability: 'normal' })
  onTestFinished(() => owner.stop({ timeout: 0 }))
  const bystander = await owner.enqueue('nobodys')
  const settings = { file: place.file, waitForOwner: '24h' }
  writeFileSync(place.path('millrace.config.mjs'), `process.kill(process.pid, 'SIGTERM')\nexport default ${JSON.stringify(settings)}\n`)
  const daemon = startDaemon(place.folder, { flags: PLAIN })
  expect(await daemon.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expect(await owner.get(bystander.id)).toMatchObject({ state: 'waiting', run: 0 })
})

test('M13: a start is ended while it waits for the owner, and the engine that opens later is closed', async () => {
  const place = new Place()
  const making: Making = { mode: 0o600, like: undefined }
  const lock = lockOwner({ file: place.file, pid: 1, host: 'elsewhere', now: 0, waitMs: 0, making: () => making })
  const stop = new AbortController()
  const config = SCHEMA.parse({ file: place.file, waitForOwner: '1h', http: { port: 0 }, listen: [] })
  // Called right before the engine is opened.
  const dashboard = async () => {
    setImmediate(() => stop.abort(new Error('stopped')))
    return undefined as never
  }
  await expect(
    serve(config, { logger: { debug() {}, info() {}, warn() {}, error() {} }, cwd: place.folder, dashboard, signal: stop.signal }),
  ).rejects.toThrow('stopped')
  lock.release()
  await vi.waitFor(async () => (await openEngine({ file: place.file })).stop())
})

// A server that takes connections and never answers: whoever opens an engine there waits.
test.each([
  ['stats', [], 130],
  ['events', ['-f'], 130],
  ['top', [], 130],
  ['mcp', [], 130],
  ['demo producer', [], 130],
  ['demo worker', [], 0],
  ['worker start', ['--handlers', GATE], 0],
] as const)('M13: %s that waits for its engine ends at the first signal', async (words, flags, code) => {
  const place = new Place()
  const { asked } = await silent(place)
  const program = place.startHere(...words.split(' '), ...flags)
  const socket = await asked
  program.signal('SIGTERM')
  expect(await program.ended).toMatchObject({ code, stderr: '' })
  // It has not waited until it would have given up.
  expect(socket.destroyed).toBe(false)
})

/** Resolves with the first connection to a server of the place. */
async function silent(place: Place): Promise<{ readonly asked: Promise<Socket> }> {
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const server = createServer(resolve).listen(place.path('silent'))
  await once(server, 'listening')
  onTestFinished(async () => {
    ;(await promise).destroy()
    server.close()
  })
  place.url = `unix:${place.path('silent')}`
  return { asked: promise }
}
