/** Looks for what keeps people from using a page, by the rules of axe. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, Result } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const SCHEMES = ['light', 'dark'] as const
/** The elements that a message names for each rule. */
const SHOWN = 3

let source: string | undefined

/** Fails if a rule is violated, in light or in dark colours. It names each rule, its weight and the elements. The page keeps its colours. */
export async function expectAccessible(page: Page): Promise<void> {
  const found: string[] = []
  const isDark = await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await audit(page)
    found.push(...violations.flatMap((violation) => describe(violation).map((line) => `${colorScheme}: ${line}`)))
  }
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  expect(found, `accessibility of ${page.url()}`).toEqual([])
}

/** Runs axe in a world of its own: the page's policy neither stops nor notices it, and nothing of it is left in the page. */
async function audit(page: Page): Promise<AxeResults> {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    ...{ expression: `${source}; axe.run({ resultTypes: ['violations'] })`, contextId: executionContextId },
    ...{ awaitPromise: true, returnByValue: true },
  })
  await session.detach()
  if (exceptionDetails !== undefined) throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
  return result.value as AxeResults
}

function describe({ id, impact, nodes }: Result): string[] {
  const lines = nodes
    .slice(0, SHOWN)
    .map(({ target, failureSummary = '' }) => `${target.flat().join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`)
  const more = nodes.length > SHOWN ? [`${nodes.length - SHOWN} more elements`] : []
  return [...lines, ...more].map((line) => `${id} (${impact}): ${line}`)
}
