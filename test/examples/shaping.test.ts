// apps/examples/shaping, as docs/shaping.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('sixty calls become three jobs: the last edit, the first alarm, the first view', async () => {
  const program = perform('shaping/main.ts')
  await program.said(/^60 calls, 3 jobs: reindexed at edit 20, reported view 1, told of alarm 1$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
})
