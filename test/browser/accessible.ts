/** Looks for what keeps people from using a page, by the rules of axe. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Result, RunOptions } from 'axe-core'
import type { CDPSession, Page } from 'playwright-core'
import { expect } from 'vitest'

/** The rules that depend on the colours, of those that axe tries by default. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']
/** A target of 24 pixels, or as much room around it: a rule of WCAG 2.2 that axe does not try by default. */
const OFF_BY_DEFAULT = { 'target-size': { enabled: true } }
/** The elements that a message names for each rule. */
const SHOWN = 3
/** Rows of a long table are like those above them. Proofs look at each. */
const LIKE_OTHERS = 'tbody > tr:nth-child(n + 7)'
/** Proofs try each rule in each scheme. Otherwise those that do not depend on colours are tried once. */
const EACH_RULE = process.env['PROOF'] !== undefined

type Scheme = 'light' | 'dark'

let source: string | undefined

/** Fails if a rule is violated, in light or in dark colours. It names each rule, its weight and the elements. The page keeps its colours. */
export async function expectAccessible(page: Page): Promise<void> {
  const axe = await Axe.load(page)
  const shown: Scheme = (await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')) ? 'dark' : 'light'
  const other: Scheme = shown === 'dark' ? 'light' : 'dark'
  const found = { [shown]: await axe.run(true) } as Record<Scheme, readonly Result[]>
  await page.emulateMedia({ colorScheme: other })
  found[other] = await axe.run(EACH_RULE)
  await page.emulateMedia({ colorScheme: shown })
  await axe.end()
  expect([...linesOf('light', found.light), ...linesOf('dark', found.dark)], `accessibility of ${page.url()}`).toEqual([])
}

function linesOf(scheme: Scheme, violations: readonly Result[]): string[] {
  return violations.flatMap((violation) => {
    const where = OF_COLOURS.includes(violation.id) || EACH_RULE ? `${scheme}: ` : ''
    return describe(violation).map((line) => `${where}${line}`)
  })
}

/** Axe in a world of its own: the page's policy neither stops nor notices it, and nothing of it is left in the page. */
class Axe {
  readonly #session: CDPSession
  readonly #contextId: number

  private constructor(session: CDPSession, contextId: number) {
    this.#session = session
    this.#contextId = contextId
  }

  static async load(page: Page): Promise<Axe> {
    source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    const session = await page.context().newCDPSession(page)
    const { frameTree } = await session.send('Page.getFrameTree')
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' })
    const axe = new Axe(session, executionContextId)
    await axe.#evaluate(`${source}; undefined`)
    return axe
  }

  /** Returns the violations of all rules, or of those that depend on colours. */
  async run(all: boolean): Promise<readonly Result[]> {
    const scope = EACH_RULE ? 'document' : `{ include: [['html']], exclude: [[${JSON.stringify(LIKE_OTHERS)}]] }`
    const options: RunOptions = {
      resultTypes: ['violations'],
      preload: false,
      ...(all ? { rules: OFF_BY_DEFAULT } : { runOnly: OF_COLOURS }),
    }
    return (await this.#evaluate(`axe.run(${scope}, ${JSON.stringify(options)}).then(({ violations }) => violations)`)) as readonly Result[]
  }

  end(): Promise<void> {
    return this.#session.detach()
  }

  async #evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      ...{ expression, contextId: this.#contextId, awaitPromise: true, returnByValue: true },
    })
    if (exceptionDetails !== undefined) throw new Error(`axe failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value
  }
}

function describe({ id, impact, nodes }: Result): string[] {
  const lines = nodes
    .slice(0, SHOWN)
    .map(({ target, failureSummary = '' }) => `${target.flat().join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`)
  const more = nodes.length > SHOWN ? [`${nodes.length - SHOWN} more elements`] : []
  return [...lines, ...more].map((line) => `${id} (${impact}): ${line}`)
}
