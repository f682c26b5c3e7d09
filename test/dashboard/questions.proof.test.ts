/** The questions of each screen: those that test/limits asks of a file with a million jobs are those of the pages. */
import { expect } from 'vitest'
import { fill } from './fill.ts'
import { FRAME, questions, timeless } from './questions.ts'
import { test } from './test.ts'

test('each screen asks what the table of questions says, and nothing else', async ({ serveDashboard }) => {
  const { enter, engine, server } = await serveDashboard()
  const { ids } = await fill(engine)
  const shown = { job: ids.failed, flow: ids.flow, queue: 'billing', name: 'charge', worker: 'worker-fra-1' }
  for (const [address, own] of Object.entries(questions(shown, 0))) {
    const since = server.asked.length
    const page = await enter(address)
    const expected = new Set([...FRAME, ...own].map(timeless))
    const asked = () =>
      server.asked.slice(since).flatMap(({ method, path }) => {
        const isQuestion = method === 'GET' && /^\/v1\/(?!session|events)/.test(path)
        return isQuestion ? [timeless(path)] : []
      })
    await expect.poll(() => [...expected].filter((path) => !asked().includes(path)), { message: address }).toEqual([])
    expect(
      asked().filter((path) => !expected.has(path)),
      address,
    ).toEqual([])
    await page.context().close()
  }
})
