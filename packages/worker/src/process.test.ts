// Who is dead for certain, and who may not be.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { hasEnded, isDead, processKey, startOf } from './process.ts'

function onLinux(title: string, body: () => void | Promise<void>): void {
  test(title, async ({ skip }) => {
    if (process.platform !== 'linux') skip('what tells processes apart is read from /proc')
    await body()
  })
}

onLinux('this process is alive; one of its number that began at another time is dead', () => {
  const key = processKey()
  expect(isDead(key)).toBe(false)
  expect(isDead(`${key}1`)).toBe(true)
})

onLinux('of another boot, of another namespace, and of nobody nothing is known', () => {
  const [boot, space, pid, start] = processKey().split(':')
  for (const key of [`other:${space}:${pid}:1`, `${boot}:1:${pid}:1`, '', 'rubbish', `${boot}:${space}:${pid}`])
    expect(isDead(key)).toBe(false)
  expect(start).toMatch(/^\d+$/)
})

onLinux('one that was killed is dead, also while its parent has not asked', async () => {
  const child = spawn('sleep', ['1000'])
  await once(child, 'spawn')
  const [boot, space] = processKey().split(':')
  const key = `${boot}:${space}:${child.pid}:${startOf(child.pid as number)}`
  expect(isDead(key)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isDead(key)).toBe(true)
  expect(isDead(key, () => undefined)).toBe(true)
  expect(startOf(child.pid as number)).toBeUndefined()
})

onLinux('one whose entry in /proc is hidden may be alive; one that is known as ended, or by another start, is dead', () => {
  const key = processKey()
  const start = key.split(':')[3] as string
  expect(isDead(key, () => undefined)).toBe(false)
  expect(isDead(key, () => ({ ended: false, start }))).toBe(false)
  expect(isDead(key, () => ({ ended: true, start }))).toBe(true)
  expect(isDead(key, () => ({ ended: false, start: `${start}1` }))).toBe(true)
})

onLinux('a process whose start was not reported is told by its number alone', () => {
  expect(hasEnded({ pid: process.pid, start: '' })).toBe(false)
  expect(hasEnded({ pid: 2 ** 30, start: '' })).toBe(true)
})
