import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { openRun } from '../../apps/demo/src/run.ts'
import { runDemo, startDemo } from './demoProcess.ts'
import { createWorkplace } from './workplace.ts'

test.each([
  ['a folder that does not exist', ['nowhere'], 'demo: nowhere does not exist\n'],
  ['a file in its place', ['../tree/file'], 'demo: ../tree/file is not a folder\n'],
  ['a path through a file', ['../tree/file/sub'], 'demo: ../tree/file/sub is not a folder: a part of its path is a file\n'],
  ['an unknown flag', ['--fast'], "demo: unknown option '--fast'; see --help\n"],
  ['two folders', ['a', 'b'], 'demo: one folder at a time, not 2; see --help\n'],
])('refuses %s in one line', async (_, args, line) => {
  const { cwd, write } = createWorkplace()
  write('file', '')
  expect(await runDemo(args, cwd)).toEqual({ code: 1, signal: null, stdout: '', stderr: line })
  expect(existsSync(join(cwd, '.millrace'))).toBe(false)
})

test('refuses a folder that may not be read in one line', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root may read every folder')
  const { cwd } = createWorkplace()
  const { code, stderr } = await runDemo(['/root'], cwd)
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'demo: /root cannot be read: permission denied\n' })
})

test('refuses a queue file that it cannot have in one line', async () => {
  const { folder, cwd, write } = createWorkplace()
  const text = write('text', 'no database at all, and long enough to be told apart from one')
  const { code, stderr } = await runDemo([folder, '--file', text], cwd)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^demo: .*\n$/)
})

test('refuses a place for the queue file that it may not write in one line', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('file', '')
  const { code, stderr } = await runDemo([folder, '--file', '../tree/file/my.db'], cwd)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^demo: the queue file .* cannot be created: .*\n$/)
})

test("refuses another program's queue, and leaves it as it is", async () => {
  const { folder, cwd } = createWorkplace()
  const file = join(cwd, 'theirs.db')
  {
    await using engine = await openEngine({ file })
    await engine.enqueue('resize', { path: 'a.png' }, { queue: 'media' })
  }
  const { code, stderr } = await runDemo([folder, '--file', file], cwd)
  expect({ code, stderr }).toEqual({ code: 1, stderr: `demo: ${file} is the queue of another program\n` })
  await using engine = await openEngine({ file })
  expect((await engine.stats()).states).toMatchObject({ waiting: 1, completed: 0 })
})

test('refuses an unfinished run over another folder', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('sub/file', '')
  const file = join(cwd, 'my.db')
  const { engine } = await openRun(folder, file)
  await engine.stop()
  const { code, stderr } = await runDemo([join(folder, 'sub'), '--file', 'my.db'], cwd)
  expect(code).toBe(1)
  expect(stderr).toBe(`demo: ${file} holds an unfinished run over ${folder}: finish that one, or name another --file\n`)
})

test('a second demo over the same folder is told who has the queue', async () => {
  const { folder, cwd } = createWorkplace()
  const { engine } = await openRun(folder, join(cwd, 'my.db'))
  const { code, stderr } = await startDemo([folder, '--file', 'my.db'], cwd).ended
  await engine.stop()
  expect(code).toBe(1)
  expect(stderr).toMatch(new RegExp(`^demo: .*process ${process.pid}.*\n$`))
})
