// What a command has said is heard to its end; what others say behind it is not waited for.
import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Excerpt } from './excerpt.ts'
import { Hearing } from './hearing.ts'

const MIB = 2 ** 20

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const outputOf = () => ({ stream: new PassThrough({ highWaterMark: 2 * MIB }), excerpt: new Excerpt(1_000) })

/** Takes each piece when it is told to. */
class SlowLog extends EventEmitter {
  release = () => {}

  write(): Promise<void> {
    return new Promise((resolve) => {
      this.release = resolve
      this.emit('asked')
    })
  }
}

test('however slow the log, all that the command has said is kept, and nobody is blamed', async () => {
  const [said, bystander, log] = [outputOf(), outputOf(), new SlowLog()]
  const asked = once(log, 'asked')
  const hearing = new Hearing([said, bystander], log)
  bystander.stream.end()
  said.stream.write('one ')
  await asked
  said.stream.end('two')
  const cut = vi.fn()
  const over = hearing.over(cut)
  await vi.advanceTimersByTimeAsync(60_000)
  const next = once(log, 'asked')
  log.release()
  await next
  await vi.advanceTimersByTimeAsync(60_000)
  log.release()
  await over
  expect(said.excerpt.captured()).toEqual({ head: 'one two', tail: '', bytes: 7, truncated: false })
  expect([cut.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0])
})

test.each([0, 1])('an output that somebody holds open is cut off after 2 s, also where he says %i lines in each 50 ms', async (lines) => {
  const [held, bystander] = [outputOf(), outputOf()]
  const hearing = new Hearing([held, bystander])
  held.stream.write('bye')
  bystander.stream.end('all')
  const cut = vi.fn()
  const over = hearing.over(cut)
  for (let ms = 0; ms < 1_950; ms += 50) {
    await vi.advanceTimersByTimeAsync(50)
    if (lines > 0) held.stream.write('.')
  }
  expect(cut).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(50)
  await over
  expect([cut.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  expect(held.excerpt.captured()).toMatchObject({ head: expect.stringMatching(/^bye\.*$/), truncated: true })
  expect(bystander.excerpt.captured()).toEqual({ head: 'all', tail: '', bytes: 3, truncated: false })
})

test('who prints without end is cut off, also behind a log that is never idle', async () => {
  const [held, log, cut] = [outputOf(), new SlowLog(), vi.fn()]
  const over = new Hearing([held], log).over(cut)
  let mib = 0
  while (cut.mock.calls.length === 0 && mib < 100) {
    const asked = once(log, 'asked')
    held.stream.write(Buffer.alloc(MIB))
    mib++
    await asked
    await vi.advanceTimersByTimeAsync(100)
    log.release()
  }
  await over
  expect(mib).toBe(64)
})

test('an output that cannot be read fails, and leaves no timer', async () => {
  const [broken, cut] = [outputOf(), vi.fn()]
  const over = new Hearing([broken]).over(cut)
  broken.stream.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }))
  await expect(over).rejects.toThrow('EIO')
  expect([cut.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0])
})
