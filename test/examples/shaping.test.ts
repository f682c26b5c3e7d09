// apps/examples/shaping, as docs/shaping.md sends its readers there.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

test('sixty calls become three jobs: the last edit, the first alarm, the first view', async () => {
  const program = startProgram(new URL('../../apps/examples/shaping/main.ts', import.meta.url), [])
  await program.said(/^60 calls, 3 jobs: reindexed at edit 20, reported view 1, told of alarm 1$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
})
