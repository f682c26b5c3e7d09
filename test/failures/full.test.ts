// A full disk is a mode: new work is refused, what runs goes on, and service resumes automatically.
import { DiskFullError, defineJob } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { describe, expect, test, vi } from 'vitest'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a', backoff: { type: 'fixed', delay: 100 } })
const FOREVER = { times: Number.POSITIVE_INFINITY }

describe('32: while the disk is full', () => {
  test('there is a ballast from the start, and it is given up at once', () => {
    const { faults, store, inThread } = startFaulty()
    expect([faults.released, inThread.actor.draining, store.care.restoreBallast()]).toEqual([0, false, true])
  })

  test('enqueues are refused, completions, failures, heartbeats and checkpoints go on, nothing is loaded anew twice', async () => {
    const { probe, faults, expectTablesAsStored } = startFaulty()
    await probe.attach(['a'])
    for (const data of ['1', '2', '3']) await probe.enqueue('a', { data })
    const [first, second, third] = [await probe.grants.take(), await probe.grants.take(), await probe.grants.take()]
    const held = [first, second, third].map(({ seq, run }) => ({ seq, run }))
    faults.fail({ kind: 'full' }, FOREVER)
    faults.room = false
    // Refused and done in the very turn that met the full disk.
    const replies = await probe.settle([
      { op: 'enqueue', jobs: [{ name: 'a', data: '4' }] },
      { op: 'complete', seq: first.seq, run: 1, output: '"done"' },
    ])
    expect(replies.map(({ refusal, value }) => refusal?.code ?? value)).toEqual(['DISK_FULL', true])
    expect(faults.released).toBe(1)
    await probe.attach(['a'], {}, held.slice(1))
    await probe.call<'heartbeat'>({ op: 'heartbeat', seq: second.seq, run: 1 })
    await probe.call<'checkpoint'>({ op: 'checkpoint', seq: second.seq, run: 1, value: '{"page":2}' })
    await probe.call<'complete'>({ op: 'complete', seq: second.seq, run: 1, output: null, enqueues: [{ name: 'child', data: null }] })
    await probe.call<'fail'>({ op: 'fail', seq: third.seq, run: 1, error: { name: 'E', message: 'm' }, retry: false })
    const { states, writer } = await probe.call<'stats'>({ op: 'stats' })
    expect(states).toMatchObject({ completed: 2, failed: 1, active: 0, waiting: 1 })
    expect(writer).toMatchObject({ draining: true, reloads: 1 })
    await expectTablesAsStored()
  })

  test('what is told of the turn that met it has the time that the journal has', async () => {
    const { probe, faults, clock, store } = startFaulty()
    await probe.call<'subscribe'>({ op: 'subscribe', on: true })
    await probe.attach(['a'])
    await probe.enqueue('a')
    const { seq } = await probe.grants.take()
    // Each write takes its time.
    const next = faults.next.bind(faults)
    vi.spyOn(faults, 'next').mockImplementation((effects) => {
      clock.stall(700)
      return next(effects)
    })
    faults.fail({ kind: 'full' })
    await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
    let told = await probe.events.take()
    while (told.type !== 'completed') told = await probe.events.take()
    expect(told.at).toBe(store.events(0, 100).findLast(({ type }) => type === 'completed')?.at)
  })

  test('the caller gets a DiskFullError that says what to do', async () => {
    const { engine, faults } = startFaulty()
    faults.fail({ kind: 'full' })
    const error = await engine.enqueue(a).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(DiskFullError)
    expect(error).toMatchObject({ code: 'DISK_FULL', retryable: true, message: expect.stringMatching(/disk is full.*Free some space/) })
  })

  test('service resumes without a restart once there is room for the ballast', async () => {
    const { engine, faults, advance, expectTablesAsStored } = startFaulty()
    engine.work([a.handler(() => 'ran')])
    faults.fail({ kind: 'full' })
    faults.room = false
    await expect(engine.enqueue(a)).rejects.toThrow(DiskFullError)
    await advance('1h')
    await expect(engine.enqueue(a)).rejects.toThrow(DiskFullError)
    expect((await engine.stats()).writer.draining).toBe(true)
    faults.room = true
    await advance('1s')
    expect((await engine.stats()).writer.draining).toBe(false)
    expect(await (await engine.enqueue(a)).result()).toBe('ran')
    await expectTablesAsStored()
  })

  test('the log has one line when new work is refused, and one when it is accepted again', async () => {
    const warned: (readonly [string, unknown])[] = []
    const warn = (message: string, fields: unknown) => void warned.push([message, fields])
    const { engine, faults, advance } = startFaulty({ debug() {}, info() {}, warn, error() {} })
    for (let round = 0; round < 2; round++) {
      faults.fail({ kind: 'full' })
      faults.room = false
      for (let call = 0; call < 20; call++) await engine.enqueue(a).catch(() => {})
      await advance('10m')
      faults.room = true
      await advance('1m')
    }
    const full = [expect.stringMatching(/^the disk is full: .*Free some space/), expect.objectContaining({ code: 'DISK_FULL' })]
    expect(warned).toEqual([full, ['new jobs are accepted again', {}], full, ['new jobs are accepted again', {}]])
  })

  test('where even the ballast is not enough, all that writes is refused, and goes on when there is room', async () => {
    const { engine, faults, advance, store, expectTablesAsStored } = startFaulty()
    let runs = 0
    engine.work([
      a.handler(() => {
        runs++
        faults.ballastHelps = false
        faults.room = false
        faults.fail({ kind: 'full' }, FOREVER)
        return 'once'
      }),
    ])
    const handle = await engine.enqueue(a)
    await advance('1s')
    const { writes } = faults
    await advance('1m')
    await expect(engine.cancel(handle.id)).rejects.toThrow(DiskFullError)
    expect(store.load().active).toMatchObject([{ run: 1 }])
    // Said again about four times a second, by the one worker that has something to say.
    expect(faults.writes - writes).toBeLessThan(1_000)
    faults.room = true
    faults.heal()
    await advance('2s')
    expect(await handle.result()).toBe('once')
    expect(runs).toBe(1)
    await expectTablesAsStored()
  })

  test('a job that waits is still started, retried and cancelled', async () => {
    const { engine, faults, advance } = startFaulty()
    const [waiting, unwanted] = [await engine.enqueue(a), await engine.enqueue('b')]
    faults.room = false
    faults.fail({ kind: 'full' })
    await expect(engine.enqueue(a)).rejects.toThrow(DiskFullError)
    let attempts = 0
    engine.work([
      a.handler(() => {
        if (++attempts < 3) throw new Error('again')
      }),
    ])
    await engine.cancel(unwanted.id)
    await quiet()
    await advance('5s')
    await waiting.result()
    expect([attempts, (await engine.stats()).writer.draining]).toEqual([3, true])
  })
})
