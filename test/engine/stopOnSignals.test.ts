// A process that is told to end: what becomes of the job that it runs, and how it ends.
import { join } from 'node:path'
import { openEngine, stopOnSignals } from '@millrace/engine'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { insist, type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

async function started(name: string): Promise<{ program: Program; folder: string }> {
  const folder = temporaryFolder()
  const program = startProgram(new URL('programs/stopping.ts', import.meta.url), [folder, name])
  await program.said(/^running$/)
  return { program, folder }
}

/** The job as the file has it when the process is gone. */
async function jobIn(folder: string) {
  await using engine = await openEngine({ file: join(folder, 'jobs.db') })
  const { jobs } = await engine.list()
  expect(jobs).toHaveLength(1)
  const [job] = jobs
  return { state: job?.state, attempt: job?.attempt }
}

describe('a signal', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s: the running job completes, then the process ends with 0', async (signal) => {
    const { program, folder } = await started('plain')
    program.child.kill(signal)
    program.child.stdin.write('finish\n')
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(program.lines).toEqual(['running', 'done'])
    expect(await jobIn(folder)).toEqual({ state: 'completed', attempt: 1 })
  })

  test('a job that outlasts the timeout is given back, and no attempt is used', async () => {
    const { program, folder } = await started('late')
    program.child.kill('SIGTERM')
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(await jobIn(folder)).toEqual({ state: 'waiting', attempt: 0 })
  })

  test('one that arrives twice, as of a terminal and of npm, is one', async () => {
    const { program, folder } = await started('two')
    program.child.kill('SIGINT')
    await program.said(/^the other stops$/)
    program.child.kill('SIGINT')
    program.child.stdin.write('finish\n')
    expect(await program.ended).toMatchObject({ code: 0 })
    expect(await jobIn(folder)).toEqual({ state: 'completed', attempt: 1 })
  })

  test('a second signal ends the process at once', async () => {
    const { program } = await started('two')
    program.child.kill('SIGTERM')
    await program.said(/^the other stops$/)
    await insist(program, 'SIGTERM')
    expect(await program.ended).toMatchObject({ code: 143 })
    expect(program.lines).not.toContain('done')
  })

  test('the last of two engines ends the process', async () => {
    const { program, folder } = await started('two')
    program.child.kill('SIGTERM')
    await program.said(/^the other stops$/)
    program.child.stdin.write('finish\n')
    expect(await program.ended).toMatchObject({ code: 0 })
    expect(await jobIn(folder)).toEqual({ state: 'completed', attempt: 1 })
  })

  test('what fails before is printed: the engine stops all the same, and the process ends with 1', async () => {
    const { program, folder } = await started('before')
    program.child.kill('SIGTERM')
    program.child.stdin.write('finish\n')
    const { code, stderr } = await program.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^millrace error: the `before` of stopOnSignals failed\nError: the server did not close\n/)
    expect(await jobIn(folder)).toEqual({ state: 'completed', attempt: 1 })
  })

  test('a process with a listener of its own ends as that says', async () => {
    const { program } = await started('own')
    program.child.kill('SIGTERM')
    program.child.stdin.write('finish\n')
    expect(await program.ended).toMatchObject({ code: 7 })
  })
})

test('a `before` that does not end holds the engine up for 10 s at most', async () => {
  const engine = await openEngine({ file: ':memory:' })
  const exited = Promise.withResolvers<unknown>()
  vi.spyOn(process, 'exit').mockImplementation(exited.resolve as never)
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const stop = vi.spyOn(engine, 'stop')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    process.exitCode = undefined
  })
  stopOnSignals(engine, { signals: ['SIGUSR2'], before: () => new Promise(() => {}) })
  process.emit('SIGUSR2', 'SIGUSR2')
  expect(engine.leaving.signal.aborted).toBe(true)
  await vi.advanceTimersByTimeAsync(9_999)
  expect(stop).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(stop).toHaveBeenCalledOnce()
  expect(await exited.promise).toBe(1)
  expect(printed.mock.calls.join()).toMatch(/the `before` of stopOnSignals failed\nError: it took longer than 10 s, and the engine stops/)
})

test('an engine that is stopped leaves no listener behind', async () => {
  const before = process.listenerCount('SIGTERM')
  const engine = await openEngine({ file: ':memory:' })
  stopOnSignals(engine, { signals: ['SIGTERM'] })
  expect(process.listenerCount('SIGTERM')).toBe(before + 1)
  await engine.stop()
  expect(process.listenerCount('SIGTERM')).toBe(before)
})

test.each([
  [{ timeuot: 1 }, "stopOnSignals has no option 'timeuot'; did you mean 'timeout'?"],
  [{ timeout: 'soon' }, 'timeout'],
  [{ signals: 'SIGTERM' }, 'signals must be an array of names such as \'SIGTERM\', got "SIGTERM"'],
  [{ before: 1 }, 'before must be a function, got 1'],
])('%j is refused', async (options, message) => {
  await using engine = await openEngine({ file: ':memory:' })
  expect(() => stopOnSignals(engine, options as object)).toThrow(message)
})
