// A run of tests leaves nothing behind. This file starts processes, because a run is one.
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

test('a run that is killed leaves no process and no folder', async () => {
  const program = startProgram(new URL('./programs/run.ts', import.meta.url), [])
  const { folder, pid } = JSON.parse(await program.said(/folder/)) as { folder: string; pid: number }
  expect(folder.startsWith(tmpdir())).toBe(true)
  expect(existsSync(folder)).toBe(true)
  await program.kill()
  await expect.poll(() => [existsSync(folder), isAlive(pid)]).toEqual([false, false])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
