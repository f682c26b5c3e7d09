/** Sends each change of the API with the session of each token: the server refuses those that the token does not allow. */
import { expect } from 'vitest'
import { allows, changesOf, everyone } from './changes.ts'
import { FEW, fill } from './fill.ts'
import { type Dashboard, test } from './test.ts'

test('with the session of each token: each change that its scopes do not allow is refused', async ({ serveDashboard, guard }) => {
  void guard.expect(/status of 40[13]/)
  const dashboard = await serveDashboard()
  await fill(dashboard.engine, FEW)
  const before = await factsOf(dashboard)
  const page = await dashboard.enter('/login', { as: 'nobody' })
  for (const who of everyone) {
    await page.context().clearCookies()
    await page.context().addCookies([await dashboard.session(who)])
    const forbidden = changesOf(dashboard).filter((change) => !allows(who, change))
    expect(forbidden.length > 0, who).toBe(who !== 'admin')
    const calls = JSON.stringify(forbidden.map(({ method, path }) => [method, path]))
    const codes = await page.evaluate<readonly string[]>(`Promise.all(${calls}.map(async ([method, path]) => {
      const answer = await fetch(path, { method, headers: { 'content-type': 'application/json' }, body: '{}' })
      return (await answer.json()).code
    }))`)
    expect(Object.fromEntries(forbidden.map(({ id }, at) => [id, codes[at]])), who).toEqual(
      Object.fromEntries(forbidden.map(({ id }) => [id, 'FORBIDDEN'])),
    )
    expect(await factsOf(dashboard), who).toEqual(before)
  }
})

async function factsOf({ engine }: Dashboard): Promise<unknown> {
  const { states, totals, paused } = await engine.stats()
  return { states, totals, paused, queues: (await engine.queues.list()).map(({ name, paused, settings }) => ({ name, paused, settings })) }
}
