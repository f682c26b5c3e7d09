// Telling workers to stop, several at once.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Context } from '../context.ts'
import type { StopResult } from '../worker/stop.ts'
import { tellStopped } from './worker.ts'

test('those that cannot be stopped keep none of the others from being told of, and crash nothing', async () => {
  const said: unknown[] = []
  const context = { out: { item: async (value: unknown) => void said.push(value) } } as unknown as Context
  const first = Promise.withResolvers<StopResult>()
  const stopped = (id: string): StopResult => ({ id, pid: 1, result: 'stopped' })
  const told = tellStopped(context, [
    first.promise,
    Promise.reject(new Error('not allowed')),
    Promise.resolve(stopped('c')),
    Promise.reject(new Error('nor this')),
  ])
  // By then Node has ended a process for what nobody has taken.
  await turn()
  first.resolve(stopped('a'))
  await expect(told).rejects.toThrow('not allowed')
  expect(said).toEqual([stopped('a'), stopped('c')])
})
