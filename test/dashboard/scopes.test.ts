/** Sends each change of the API with the session of each token: the server refuses those that the token does not allow. */
import { expect } from 'vitest'
import { allows, changesOf, everyone } from './changes.ts'
import { fill } from './fill.ts'
import { type Dashboard, test } from './test.ts'

test.for(everyone)(
  'with the session of %s: each change that its scopes do not allow is refused',
  async (who, { serveDashboard, guard }) => {
    const dashboard = await serveDashboard()
    await fill(dashboard.engine)
    const before = await factsOf(dashboard)
    const page = await dashboard.enter('/login', { as: who })
    const forbidden = changesOf(dashboard).filter((change) => !allows(who, change))
    expect(forbidden.length > 0).toBe(who !== 'admin')
    if (forbidden.length > 0) void guard.expect(/status of 403/)
    for (const { id, method, path } of forbidden) {
      const init = `{ method: '${method}', headers: { 'content-type': 'application/json' }, body: '{}' }`
      const code = await page.evaluate<string>(`fetch('${path}', ${init}).then((answer) => answer.json()).then(({ code }) => code)`)
      expect(code, id).toBe('FORBIDDEN')
    }
    expect(await factsOf(dashboard)).toEqual(before)
  },
)

async function factsOf({ engine }: Dashboard): Promise<unknown> {
  const { states, totals, paused } = await engine.stats()
  return { states, totals, paused, queues: (await engine.queues.list()).map(({ name, paused, settings }) => ({ name, paused, settings })) }
}
