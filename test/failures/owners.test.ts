// 8: one engine owns a file, by whatever path it is reached; who comes second is told who that is, or waits.
import { mkdirSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AlreadyOpenError, openEngine } from '@millrace/engine'
import { describe, expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'

const OWNER = new URL('./programs/owner.ts', import.meta.url)

/** A file, and two more ways to it. */
function pathsToOneFile() {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'real'))
  const file = join(folder, 'real', 'jobs.db')
  symlinkSync('real', join(folder, 'folder-link'))
  symlinkSync(join('real', 'jobs.db'), join(folder, 'link.db'))
  return { file, byFolder: join(folder, 'folder-link', 'jobs.db'), byLink: join(folder, 'link.db') }
}

async function refusalOf(file: string) {
  const error = await openEngine({ file }).then(
    (engine) => engine.stop(),
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(AlreadyOpenError)
  return error as AlreadyOpenError
}

describe('another process', () => {
  test('fork-cluster-guard: a second owner gets AlreadyOpenError with pid and host, by every path; the first is not disturbed', async () => {
    const { file, byFolder, byLink } = pathsToOneFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    for (const path of [file, byFolder, byLink]) {
      const error = await refusalOf(path)
      expect(error).toMatchObject({ code: 'ALREADY_OPEN', retryable: true, pid: owner.child.pid, host: hostname() })
      expect(error.message).toMatch(new RegExp(`process ${owner.child.pid} on .*Stop that engine first.*waitForOwner`))
    }
    owner.child.stdin.write('stop\n')
    expect(await owner.ended).toEqual({ code: 0, signal: null, stderr: '' })
    await using engine = await openEngine({ file })
    expect((await engine.stats()).states.waiting).toBe(1)
  })

  test('an owner that came by a link is met by one that comes straight', async () => {
    const { file, byFolder, byLink } = pathsToOneFile()
    for (const path of [byLink, byFolder]) {
      const owner = startProgram(OWNER, [path])
      await owner.said(/^open/)
      expect(await refusalOf(file)).toMatchObject({ pid: owner.child.pid })
      await owner.kill()
    }
  })

  test('after kill -9 of the owner the next open succeeds at once', async () => {
    const file = temporaryFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    await owner.kill()
    await using engine = await openEngine({ file })
    expect((await engine.enqueue('a')).created).toBe(true)
  })

  test('waitForOwner waits until the owner lets go, and leaves the event loop of its host alone', async () => {
    const file = temporaryFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    let opened = false
    const opening = openEngine({ file, waitForOwner: '50s' }).finally(() => {
      opened = true
    })
    // The waiting is a thread's: this one goes round and round meanwhile.
    let rounds = 0
    const turning = (async () => {
      for (; !opened; rounds++) await new Promise((resolve) => setImmediate(resolve))
    })()
    while (rounds < 1_000) await new Promise((resolve) => setImmediate(resolve))
    expect(opened).toBe(false)
    owner.child.stdin.write('stop\n')
    await using engine = await opening
    await turning
    await owner.ended
    // All that the owner has said is there.
    expect((await engine.stats()).states.waiting).toBe(1)
  })

  test('waitForOwner takes over from an owner that is killed', async () => {
    const file = temporaryFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    const opening = openEngine({ file, waitForOwner: '50s' })
    await owner.kill()
    await using engine = await opening
    expect((await engine.enqueue('a')).created).toBe(true)
  })

  test('waitForOwner waits no longer than it is told', async () => {
    const file = temporaryFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    const error = await openEngine({ file, waitForOwner: 300 }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(AlreadyOpenError)
    expect(error).toMatchObject({ pid: owner.child.pid })
  })

  test('a process that waits can end: the wait does not hold it', async () => {
    const file = temporaryFile()
    const owner = startProgram(OWNER, [file])
    await owner.said(/^open/)
    const waiting = startProgram(new URL('./programs/impatient.ts', import.meta.url), [file])
    expect(await waiting.ended).toEqual({ code: 7, signal: null, stderr: '' })
  }, 15_000)
})

describe('the same process', () => {
  test('a second open is refused, by every path, and the first goes on', async () => {
    const { file, byFolder, byLink } = pathsToOneFile()
    await using engine = await openEngine({ file })
    for (const path of [file, byFolder, byLink]) {
      const error = await refusalOf(path)
      expect(error).toMatchObject({ pid: process.pid, message: expect.stringMatching(/this process.*use that engine, or stop it first/) })
    }
    expect((await engine.enqueue('a')).created).toBe(true)
  })

  test('two at once: one of them wins', async () => {
    const file = temporaryFile()
    const settled = await Promise.allSettled([openEngine({ file }), openEngine({ file })])
    const engines = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const refusals = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect([engines.length, refusals.length, refusals[0] instanceof AlreadyOpenError]).toEqual([1, 1, true])
    await engines[0]?.stop()
    await (await openEngine({ file })).stop()
  })

  test('a dangling link makes the file that it names', async () => {
    const { file, byLink } = pathsToOneFile()
    await using engine = await openEngine({ file: byLink })
    await engine.enqueue('a')
    expect(await refusalOf(file)).toMatchObject({ pid: process.pid })
  })
})
