// Q2, 5.4: however a run ends, nothing of its command is left.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Engine } from '@millrace/engine'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { nodeCommand, script, startBench } from './bench.ts'
import { family, startRoll, staying } from './roll.ts'

const ended = (engine: Engine, event: 'cancelled' | 'failed' | 'released') =>
  new Promise<void>((resolve) => engine.once(event as 'failed', () => resolve()))

describe('the whole group ends', () => {
  test('5.4: on timeout, a grandchild too', async () => {
    const roll = await startRoll()
    const { engine } = await startBench({ family: { ...family(false), timeout: '8s' } })
    const handle = await engine.enqueue('family', { roll: roll.path }, { maxAttempts: 1 })
    await Promise.all([roll.here('child'), roll.here('grandchild')])
    await handle.result().catch(() => {})
    await Promise.all([roll.gone('child'), roll.gone('grandchild')])
    const job = await engine.get(handle.id)
    expect(job).toMatchObject({ state: 'failed', attempts: [{ error: { name: 'JobTimeoutError' } }] })
    expect(job?.attempts[0]?.logs.at(-1)).toMatchObject({
      message: expect.stringMatching(/^the command was ended by SIGTERM after its abort \(JobTimeoutError\)$/),
      fields: { exitCode: null, signal: 'SIGTERM' },
    })
  })

  test('5.4: SIGKILL ends who ignores SIGTERM for the grace', async () => {
    const roll = await startRoll()
    const { engine } = await startBench({ family: { ...family(true), killGrace: 100 } })
    const { id } = await engine.enqueue('family', { roll: roll.path })
    await Promise.all([roll.here('child'), roll.here('grandchild')])
    await engine.cancel(id)
    await ended(engine, 'cancelled')
    await Promise.all([roll.gone('child'), roll.gone('grandchild')])
    const job = await engine.get(id)
    expect(job).toMatchObject({ state: 'cancelled', attempts: [{ error: { name: 'CommandFailedError' } }] })
    expect(job?.attempts[0]?.logs.at(-1)?.fields).toMatchObject({ signal: 'SIGKILL' })
  })

  test('on a cancel, within the grace where it obeys', async () => {
    const roll = await startRoll()
    const { engine } = await startBench({ family: { ...family(false), killGrace: '10m' } })
    const { id } = await engine.enqueue('family', { roll: roll.path })
    await Promise.all([roll.here('child'), roll.here('grandchild')])
    await engine.cancel(id)
    await ended(engine, 'cancelled')
    await Promise.all([roll.gone('child'), roll.gone('grandchild')])
    expect((await engine.get(id))?.attempts[0]?.error?.message).toMatch(/was ended by SIGTERM after its abort \(JobCancelledError\)/)
  })

  test('on a stop: the job is given back, and has used no attempt', async () => {
    const roll = await startRoll()
    const { engine, worker } = await startBench({ family: family(false) })
    const { id } = await engine.enqueue('family', { roll: roll.path })
    await Promise.all([roll.here('child'), roll.here('grandchild')])
    await worker.stop({ timeout: 0 })
    await Promise.all([roll.gone('child'), roll.gone('grandchild')])
    expect(await engine.get(id)).toMatchObject({ state: 'waiting', attempt: 0 })
  })

  test('while anything runs, and no longer, the exit of the process is listened to, once', async () => {
    const { engine, worker } = await startBench({ family: family(false) })
    const before = process.listenerCount('exit')
    const rolls = [await startRoll(), await startRoll()]
    for (const { path } of rolls) await engine.enqueue('family', { roll: path })
    for (const roll of rolls) await roll.here('grandchild')
    expect(process.listenerCount('exit')).toBe(before + 1)
    await worker.stop({ timeout: 0 })
    expect(process.listenerCount('exit')).toBe(before)
  })

  test('what a command that has succeeded has left behind ends with it', async () => {
    const roll = await startRoll()
    const leaving = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(staying('left'))}, '--', process.argv[1]], { stdio: 'inherit' }).unref(); require('net').createServer((socket) => socket.once('data', () => process.exit(0))).listen(process.argv[2])`
    const { engine } = await startBench({ leave: nodeCommand(leaving, { args: ['{{roll}}', '{{door}}'] }) })
    const door = join(temporaryFolder(), 'd')
    const handle = await engine.enqueue('leave', { roll: roll.path, door })
    await roll.here('left')
    connect(door)
      .on('error', () => {})
      .write('go')
    expect(await handle.result()).toMatchObject({ exitCode: 0 })
    await roll.gone('left')
  })

  test('who has left the group on purpose does not hang the job by the output that it holds', async () => {
    const roll = await startRoll()
    const escaping = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(staying('escaped'))}, '--', process.argv[1]], { stdio: 'inherit', detached: true }).unref(); require('net').createServer((socket) => socket.once('data', () => { console.log('bye'); process.exit(0) })).listen(process.argv[2])`
    const { engine } = await startBench({ escape: nodeCommand(`${escaping}`, { args: ['{{roll}}', '{{door}}'] }) })
    const door = join(temporaryFolder(), 'd')
    const handle = await engine.enqueue('escape', { roll: roll.path, door })
    await roll.here('escaped')
    connect(door)
      .on('error', () => {})
      .write('go')
    expect(await handle.result()).toMatchObject({ exitCode: 0, stdout: { head: 'bye\n', truncated: true } })
    expect((await engine.get(handle.id))?.attempts[0]?.logs).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/has left the group/) },
    ])
  })
})

describe('limits', () => {
  const isThere = ['/usr/bin/prlimit', '/bin/prlimit'].some((tool) => existsSync(tool))

  test('Q7, 5.4: cpu time', async ({ skip }) => {
    if (!isThere) skip('prlimit is not on this system')
    const { run } = await startBench({ spin: script('while :; do :; done', { limits: { cpuSeconds: 1 } }) })
    expect((await run('spin')).attempts[0]?.logs.at(-1)?.fields).toMatchObject({ exitCode: null, signal: 'SIGXCPU' })
  })

  test('Q7, 5.4: memory', async ({ skip }) => {
    if (!isThere) skip('prlimit is not on this system')
    const { run } = await startBench({
      eat: { file: '/bin/dd', args: ['if=/dev/zero', 'of=/dev/null', 'bs={{size}}', 'count=1'], limits: { memoryBytes: 64 * 2 ** 20 } },
    })
    expect((await run('eat', { size: '1M' })).state).toBe('completed')
    expect((await run('eat', { size: '512M' })).attempts[0]?.error?.message).toMatch(/memory/)
  })

  test('open files', async ({ skip }) => {
    if (!isThere) skip('prlimit is not on this system')
    const { run } = await startBench({ show: script('ulimit -n', { limits: { files: 64 } }) })
    expect((await run('show')).output?.stdout.head).toBe('64\n')
  })

  test('5.4: another user and group', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can choose a user')
    const { run } = await startBench({ who: script('id -u; id -g; id -G', { uid: 65_534, gid: 65_534 }) })
    expect((await run('who')).output?.stdout.head).toBe('65534\n65534\n65534\n')
  })
})
