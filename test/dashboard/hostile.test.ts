/** Payloads of others: whatever they are, they stay text. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Dashboard, test } from './test.ts'

const MARKUP = '<img src=x onerror="window.ran=true">'
const SCRIPT = '</script><script>window.ran=true</script>'
/** Right to left, with an override that turns the text behind it around. */
const TURNED = 'abc\u202Etxt.exe שלום مرحبا'
const CONTROLS = 'bell\u0007 null\u0000 escape\u001B[31m'

/** Bodies of jobs as they are sent: JSON of another program may hold what ours would not write. */
const BODIES: Readonly<Record<string, string>> = {
  markup: JSON.stringify({ job: 'markup', data: { text: SCRIPT, [MARKUP]: MARKUP }, options: { tags: [MARKUP], concurrencyKey: SCRIPT } }),
  turned: JSON.stringify({ job: 'turned', data: { text: TURNED, [TURNED]: 1 }, options: { tags: [TURNED] } }),
  controls: JSON.stringify({ job: 'controls', data: { text: CONTROLS } }),
  large: JSON.stringify({ job: 'large', data: { text: 'x'.repeat(1_000_000) } }),
  wide: JSON.stringify({ job: 'wide', data: Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`key-${key}`, key])) }),
  number: JSON.stringify({ job: 'number', data: { n: Number.MAX_SAFE_INTEGER, beyond: '9007199254740993' } }),
  prototype: '{"job":"prototype","data":{"constructor":2,"toString":3,"hasOwnProperty":4}}',
}

async function fillHostile({ call }: Dashboard): Promise<void> {
  for (const body of Object.values(BODIES)) {
    const answer = await call('/v1/jobs', { method: 'POST', body })
    expect(answer.status, await answer.text()).toBe(201)
  }
}

/** Fails if something that came as text did something. The fixture fails on errors, violations of the policy, and foreign requests. */
async function expectCalm(page: Page): Promise<void> {
  expect(await page.evaluate('window.ran === undefined && document.querySelector("img") === null')).toBe(true)
  const [wide, seen] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]')
  expect(wide).toBeLessThanOrEqual(seen)
}

test('payloads are text: markup, 1 MB, 10,000 keys, control characters, and names of what objects have', async ({ serveDashboard }) => {
  const dashboard = await serveDashboard()
  await fillHostile(dashboard)
  const page = await dashboard.enter('/jobs?state=waiting')
  for (const [name, shown] of [
    ['markup', SCRIPT],
    ['turned', 'txt.exe'],
    ['controls', 'bell'],
    ['large', 'xxxxxxxx'],
    ['wide', 'key-1'],
    ['number', '9007199254740993'],
    ['prototype', 'hasOwnProperty'],
  ] as const) {
    const { jobs } = await dashboard.engine.list({ name, limit: 1 })
    await page.goto(`${dashboard.url}/jobs/${jobs[0]?.id}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('main').filter({ hasText: shown }).waitFor()
    await expectCalm(page)
  }
})
