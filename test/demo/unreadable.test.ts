import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hash } from '../../apps/demo/src/jobs.ts'
import { openRun } from '../../apps/demo/src/run.ts'
import { findings, runDemo } from './demoProcess.ts'
import { createWorkplace } from './workplace.ts'

test('a file that vanishes between its scan and its hash is tried twice, and then fails visibly', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('here', 'x')
  const gone = write('gone', 'x')
  const file = join(cwd, 'my.db')
  // As a scan that was just committed would have left it.
  const { engine } = await openRun(folder, file)
  await engine.enqueue(hash, { path: gone })
  await engine.stop()
  rmSync(gone)

  const { code, stdout } = await runDemo([folder, '--file', file], cwd)

  expect(code).toBe(0)
  expect(findings(stdout)).toContain(`
1 file or folder could not be read, also when tried again:
  gone: ENOENT: no such file or directory
`)
  expect(stdout).toContain('1 file, 1 byte, in 1 folder\n')
})
