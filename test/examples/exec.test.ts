// apps/examples/exec, as its README says to run it.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('an argument, stdin and variables; a failure for good', async ({ skip }) => {
  const missing = ['/usr/bin/cksum', '/usr/bin/sort'].find((file) => !existsSync(file))
  if (missing !== undefined) skip(`${missing}, which the example runs, is not on this system`)
  const program = perform('exec/main.ts')
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace error: job 'report' failed/) })
  expect(program.lines).toEqual([
    'checksum: exit code 0, 4294967295 0 /dev/null',
    'log: written',
    'sort: apple, fig, pear',
    'report: checking sda; rm -rf /',
    "failed: the command 'report' has ended with exit code 1: checking sdb",
  ])
})
