// apps/examples/flows, as its README says to run it.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

const example = (name: string, ...args: string[]) => perform(`flows/${name}.ts`, args)

test('a flow that completes', async () => {
  const build = example('build')
  await build.said(/^report: home completed, news completed$/)
  await build.said(/^site: <h1>home<\/h1><h1>news<\/h1>$/)
  expect(await build.ended).toMatchObject({ code: 0, stderr: '' })
})

test('a flow that goes on after a retry of what had failed', async () => {
  const build = example('build', 'broken')
  await build.said(/^report: home completed, news failed \(no news today\)$/)
  await build.said(/^site: ParentFailedError$/)
  await build.said(/^site: <h1>home<\/h1><h1>news<\/h1>$/)
  expect(await build.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace error: job 'page' failed/) })
})

test('a batch whose callback sees how its jobs have ended', async () => {
  const batch = example('batch', '20')
  await batch.said(/^the squares add up to 2532, 2 left out$/)
  expect(await batch.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace error: job 'square' failed/) })
})

test('a job that waits for those that it has created', async () => {
  const join = example('join', '5')
  await join.said(/^run 1, attempt 1$/)
  await join.said(/^run 2, attempt 1$/)
  await join.said(/^15000 words$/)
  expect(await join.ended).toMatchObject({ code: 0, stderr: '' })
})
