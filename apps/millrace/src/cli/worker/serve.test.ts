// How a worker's process ends: by a signal, or when its time is up.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { defineJob } from '@millrace/worker'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Context } from '../context.ts'
import { serve } from './serve.ts'

test('a time that is up while the worker drains is no second signal', async () => {
  const exit = vi.fn()
  const folder = mkdtempSync(join(tmpdir(), 'millrace-worker-'))
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(async () => {
    await engine.stop()
    rmSync(folder, { recursive: true })
  })
  const [begun, open, until] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()]
  const hold = defineJob({ name: 'hold' }).handler(() => {
    begun.resolve()
    return open.promise
  })
  const notes: string[] = []
  const taken = Promise.withResolvers<(signal: NodeJS.Signals) => void>()
  const context = {
    host: { exit },
    env: { MILLRACE_STATE_DIR: folder },
    out: { json: false, note: (text: string) => notes.push(text), item: async () => {}, paint: (_style: string, text: string) => text },
    target: () => ({ kind: 'file', file: ':memory:' }),
    connect: async () => engine,
    takeOver: taken.resolve,
  } as unknown as Context
  const served = serve(context, {
    id: 'w',
    handlers: [hold],
    work: {},
    drainMs: Number.POSITIVE_INFINITY,
    log: null,
    verbose: false,
    until: until.signal,
  })
  const signal = await taken.promise
  const [bystander, held] = await engine.enqueueMany([{ job: 'nobodys' }, { job: 'hold' }])
  await begun.promise
  signal('SIGINT')
  until.abort()
  expect(exit).not.toHaveBeenCalled()
  open.resolve()
  await served
  expect(notes).toEqual([expect.stringMatching(/^SIGINT: the worker takes no more jobs and waits for 1 running/)])
  expect(await engine.get(held?.id as string)).toMatchObject({ state: 'completed' })
  expect(await engine.get(bystander?.id as string)).toMatchObject({ state: 'waiting', run: 0 })
  signal('SIGINT')
  expect(exit).toHaveBeenCalledExactlyOnceWith(130)
})
