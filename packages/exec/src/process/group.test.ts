import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ProcessGroup } from './group.ts'

test('a group that is gone is sent nothing more: its number may be of another by then', async () => {
  const child = spawn('/bin/true', { detached: true, stdio: 'ignore' })
  const group = new ProcessGroup(child.pid as number, 1)
  await once(child, 'exit')
  await group.gone()
  const kill = vi.spyOn(process, 'kill')
  onTestFinished(() => kill.mockRestore())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  group.end()
  vi.advanceTimersByTime(1)
  expect(kill.mock.calls).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('one that was told to end, and has, leaves no timer', async () => {
  const child = spawn('/bin/cat', { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const kill = vi.spyOn(process, 'kill')
  onTestFinished(() => kill.mockRestore())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const group = new ProcessGroup(child.pid as number, 60_000)
  group.end()
  expect(vi.getTimerCount()).toBe(1)
  await once(child, 'exit')
  await group.gone()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(60_000)
  expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([[-(child.pid as number), 'SIGTERM']])
})
