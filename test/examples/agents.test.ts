// packages/engine/AGENTS.md: its program runs as it stands, and its defaults are those of the code.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_POLICY } from '../../packages/core/src/policy.ts'
import { DEFAULT_RETENTION } from '../../packages/core/src/retention.ts'
import { temporaryFolder } from '../temporary.ts'
import { runSnippets, snippetsOf } from './snippets.ts'

const PAGE = 'packages/engine/AGENTS.md'
const page = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8')

/** What the page leaves to its reader. */
const GIVEN = `
const deliver = async (to: string, options: { key: string }) => ({ messageId: to + ' by ' + typeof options.key })
const pay = async (cents: number, options: { key: string; signal: AbortSignal }) => ({ status: 200 })
const indexPage = async (page: number) => void pages.push(page)
const pages: number[] = []
`

const CHECKED = `
await engine.enqueue(index, { pages: 3 }).then((job) => job.result())
console.log(JSON.stringify({ messageId, pages, failed: jobs.length, kinds: kinds.length, why: why?.message }))
await engine.stop({ timeout: 0 })
`

test('its program runs', async () => {
  expect(snippetsOf(PAGE)).toHaveLength(2)
  const ended = await runSnippets(PAGE, { given: GIVEN, after: CHECKED, instead: { "'jobs.db'": `'${temporaryFolder()}/jobs.db'` } })
  expect(ended.code, ended.stderr).toBe(0)
  expect(JSON.parse(ended.stdout)).toEqual({
    ...{ messageId: 'ada@example.com by string', pages: [0, 1, 2], failed: 0, kinds: 0 },
    why: 'is completed',
  })
})

test('its defaults are those of the code', () => {
  const row = (name: string) => page.match(new RegExp(`^\\| ${name}[^|]*\\| (.*) \\|$`, 'm'))?.[1]
  const { maxAttempts, backoff, timeout } = DEFAULT_POLICY
  expect(row('`maxAttempts`')).toBe(`${maxAttempts}, the first included`)
  expect(backoff).toMatchObject({ type: 'exponential', delay: 20_000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 })
  expect(row('`backoff`')).toBe('20 s, then twice as long each time, at most 1 h, with 20 % jitter')
  expect(row('`timeout`')).toBe(`${timeout / 60_000} minutes`)
  const days = (state: 'completed' | 'failed') => DEFAULT_RETENTION[state].ageMs / 86_400_000
  expect(row('retention')).toBe(`completed and cancelled jobs ${days('completed')} days, failed ones ${days('failed')} days`)
})
