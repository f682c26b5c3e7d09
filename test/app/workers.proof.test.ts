// Worker processes: what they outlive, how they end, who may be told to; and short commands beside one another on one file.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openEngine } from '@millrace/engine'
import { defineJob } from '@millrace/worker'
import { expect, onTestFinished, test } from 'vitest'
import { family, startRoll } from '../exec/roll.ts'
import { HANDLERS, Place } from './millrace.ts'

const LONG = 300_000
const DEAF = fileURLToPath(new URL('./programs/daemonHandlers.ts', import.meta.url))

/** As it is to be, it is not. */
function endIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

test('Q3: a detached worker outlives whoever started it, and has a session of its own, which no terminal hangs up', {
  timeout: LONG,
}, async ({ skip }) => {
  if (process.platform !== 'linux') skip('only Linux tells in /proc which session a process is of')
  const place = new Place()
  writeFileSync(
    place.path('parent.mjs'),
    `import { spawn } from 'node:child_process'
const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['ignore', 'pipe', 'inherit'] })
child.stdout.pipe(process.stdout)
setInterval(() => {}, 1e6)`,
  )
  await place.ok('enqueue', 'first')
  const parent = place.startScript(place.path('parent.mjs'), 'worker', 'start', '--handlers', HANDLERS, '--id', 'w', '--detach')
  const pid = Number(/process (\d+)/.exec(await parent.said(/^w runs as process \d+; its log is /))?.[1])
  onTestFinished(() => endIfAlive(pid))
  await parent.kill()
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  expect(Number(fields[3])).toBe(pid)
  expect(await place.okJson('enqueue', 'echo', '1', '--wait', '--wait-timeout', '1m')).toMatchObject({ output: 1 })
  expect(await place.ok('workers', 'stop', 'w')).toBe(`w (process ${pid}) stopped\n`)
})

test('a detached worker has the --drain-timeout that it was started with', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const { pid } = await place.okJson('worker', 'start', '--handlers', HANDLERS, '--id', 'w', '--detach', '--drain-timeout', '1ms')
  onTestFinished(() => endIfAlive(pid as number))
  const bystander = (await place.ok('enqueue', 'nobodys', '1')).trim()
  const id = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('never') }))).trim()
  await place.made('begun')
  expect(await place.ok('worker', 'stop', 'w', '--timeout', '1m')).toBe(`w (process ${pid}) stopped\n`)
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ state: 'waiting', attempt: 0, run: 1 })
  expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', run: 0 })
})

test('a detached worker that cannot begin says why, where it was started, and the code is that of its error', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  const start = (...flags: readonly string[]) => place.run('worker', 'start', '--handlers', HANDLERS, '--detach', ...flags)
  const twice = await Promise.all([start('--id', 'w'), start('--id', 'w', '--health-port', '0')])
  const { pid } = JSON.parse(readFileSync(place.path('state/workers/w.json'), 'utf8')) as { readonly pid: number }
  onTestFinished(() => endIfAlive(pid))
  expect(twice.map(({ code }) => code).toSorted()).toEqual([0, 4])
  expect(twice.map(({ stderr }) => stderr).join('')).toMatch(/the worker w runs already .*\(WORKER_EXISTS\)\n$/)
  place.url = `unix:${place.path('nobody')}`
  const answer = await start()
  expect(answer).toMatchObject({ code: 6, stdout: '' })
  expect(answer.stderr).toMatch(/the worker ended at its start: .*no engine has answered.*\(CONNECT_FAILED\)/)
})

test('after --drain-timeout what runs is aborted and given back, without using an attempt', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--drain-timeout', '1ms', '--verbose')
  await worker.said(/is ready/)
  const id = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('never') }))).trim()
  await place.made('begun')
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  expect(worker.lines.at(-1)).toMatch(/released .* default\/gate/)
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ state: 'waiting', attempt: 0, run: 1 })
})

test('a worker whose stdout nobody reads any more works on, and drains as any other', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--verbose')
  await worker.said(/is ready/)
  const bystander = (await place.ok('enqueue', 'nobodys', '1')).trim()
  const id = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))).trim()
  await place.made('begun')
  worker.child.stdout.destroy()
  await place.ok('enqueue', 'echo', '1', '--wait')
  expect(await place.okJson('enqueue', 'echo', '2', '--wait', '--wait-timeout', '1m')).toMatchObject({ output: 2 })
  worker.child.kill('SIGTERM')
  while (!((await place.okJson('workers', 'list')) as { workers: [{ draining: boolean }] }).workers[0].draining);
  writeFileSync(place.path('open'), '')
  expect(await worker.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/takes no more jobs and waits for 1 running/) })
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ state: 'completed', attempt: 1 })
  expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', run: 0 })
})

test('worker stop ends what does not finish in time', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--id', 'busy')
  await worker.said(/is ready/)
  await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('never') }))
  await place.made('begun')
  expect((await place.run('worker', 'stop', 'busy', '--timeout', '10ms', '--json')).items).toEqual([
    { id: 'busy', pid: expect.any(Number), result: 'ended' },
  ])
  expect(await worker.ended).toMatchObject({ code: 130 })
})

test('worker stop that is interrupted leaves the worker draining', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--id', 'busy')
  await worker.said(/is ready/)
  const id = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))).trim()
  await place.made('begun')
  const stopping = place.start('worker', 'stop', 'busy', '--timeout', '5m')
  while (!((await place.okJson('workers', 'list')) as { workers: [{ draining: boolean }] }).workers[0].draining);
  stopping.child.kill('SIGINT')
  expect(await stopping.ended).toMatchObject({ code: 130 })
  writeFileSync(place.path('open'), '')
  expect(await worker.ended).toMatchObject({ code: 0, signal: null })
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ state: 'completed', attempt: 1 })
})

test('5.4: a worker that a second signal ends leaves nothing of its commands behind, without a folder of logs too', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  await place.serve()
  const roll = await startRoll()
  const config = place.path('worker.json')
  writeFileSync(config, JSON.stringify({ exec: { family: family(true) } }))
  const worker = place.start('worker', 'start', '--config', config, '--id', 'busy')
  await worker.said(/is ready/)
  await place.ok('enqueue', 'family', JSON.stringify({ roll: roll.path }))
  const bystander = (await place.ok('enqueue', 'nobodys', '1')).trim()
  await Promise.all([roll.here('child'), roll.here('grandchild')])
  expect((await place.run('worker', 'stop', 'busy', '--timeout', '10ms', '--json')).items).toMatchObject([{ result: 'ended' }])
  expect(await worker.ended).toMatchObject({ code: 130 })
  await Promise.all([roll.gone('child'), roll.gone('grandchild')])
  expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', run: 0 })
})

test('worker start waits for an aborted run as long as the worker.abortGrace of its configuration says', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const config = place.path('worker.json')
  const start = (settings: object) => {
    writeFileSync(config, JSON.stringify(settings))
    return place.start('worker', 'start', '--config', config, '--verbose')
  }
  const worker = start({ worker: { abortGrace: 50, handlers: [DEAF] } })
  await worker.said(/is ready/)
  const bystander = (await place.ok('enqueue', 'nobodys', '1')).trim()
  expect((await place.run('enqueue', 'deaf', '--timeout', '100ms', '--max-attempts', '1', '--wait')).code).not.toBe(0)
  const { jobs } = (await place.okJson('jobs', 'list', '--name', 'deaf')) as { jobs: { id: string }[] }
  const { state, attempts } = (await place.okJson('jobs', 'show', jobs[0]?.id as string)) as {
    state: string
    attempts: { startedAt: string; endedAt: string }[]
  }
  const [{ startedAt, endedAt } = { startedAt: '', endedAt: '' }] = attempts
  expect(state).toBe('failed')
  expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeLessThan(20_000)
  expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', run: 0 })
  await worker.kill()

  const { code, stderr } = await start({ worker: { abortGrace: '5s' }, exec: { greet: { file: '/bin/echo' } } }).ended
  expect([code, stderr]).toEqual([2, expect.stringMatching(/killGrace is 10s, and has to be below abortGrace/)])
})

test('Q4: workers stop reaches one that lives in another program, and gives back what does not finish in time', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  const engine = await openEngine({ file: place.file, durability: 'normal', share: true })
  onTestFinished(() => engine.stop())
  const begun = Promise.withResolvers<void>()
  const own = defineJob({ name: 'own' })
  const work = (id: string) =>
    engine.work(
      own.handler(({ signal }) => {
        begun.resolve()
        return new Promise((resolve) => signal.addEventListener('abort', resolve))
      }),
      { id },
    )
  const worker = work('embedded')
  const bystander = engine.work(
    defineJob({ name: 'other' }).handler(() => 1),
    { id: 'bystander' },
  )
  const { id } = await engine.enqueue(own, undefined)
  await begun.promise
  const busy = await place.run('workers', 'drain', 'embedded', '--timeout', '1ms')
  expect(busy).toMatchObject({ code: 5, stdout: `embedded (process ${process.pid}) draining\n` })
  expect(await place.ok('workers', 'stop', 'embedded', '--timeout', '10ms')).toBe(`embedded (process ${process.pid}) stopped\n`)
  await worker.stopped
  expect(await engine.get(id)).toMatchObject({ state: 'waiting', attempt: 0, run: 1 })
  expect(await place.okJson('workers', 'list')).toMatchObject({ workers: [{ id: 'bystander', draining: false }] })
  expect(bystander.running).toBe(0)
})

test('Q4: a process of worker start that is told through the engine lets what runs finish, and ends', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--id', 'far')
  await worker.said(/is ready/)
  const gate = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))).trim()
  await place.made('begun')
  const stopping = place.run('workers', 'stop', 'far', '--timeout', '5m', '--json')
  while (!((await place.okJson('workers', 'list')) as { workers: [{ draining: boolean }] }).workers[0].draining);
  writeFileSync(place.path('open'), '')
  expect((await stopping).items).toEqual([{ id: 'far', pid: worker.child.pid, result: 'stopped' }])
  expect(await worker.ended).toMatchObject({ code: 0 })
  expect(await place.okJson('jobs', 'show', gate)).toMatchObject({ state: 'completed', attempt: 1 })
})

test('short commands beside one another on a file that nobody else has open: each job is there once', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'first')
  const ended = await Promise.all(Array.from({ length: 5 }, (_, index) => place.runProcess('enqueue', 'beside', String(index))))
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(5).fill({ code: 0, stderr: '' }))
  const { jobs } = (await place.okJson('jobs', 'list', '--name', 'beside')) as { jobs: { id: string; data: number }[] }
  expect(jobs.map(({ data }) => data).toSorted()).toEqual([0, 1, 2, 3, 4])
  expect(new Set(ended.map(({ stdout }) => stdout.trim()))).toEqual(new Set(jobs.map(({ id }) => id)))
})
