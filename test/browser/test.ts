/** `test` for pages: opens them in a browser, and fails if one does what no page of Millrace may do. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { test as base, expect, inject } from 'vitest'
import { Guard } from './guard.ts'
import { launch, openContext } from './launch.ts'

/** Opens a page in a context of its own: no cookie or storage is there from another. */
export type Visit = (url: string, options?: BrowserContextOptions) => Promise<Page>

export const test = base
  .extend('chromium', { scope: 'worker' }, inject('chromium'))

  .extend('browser', { scope: 'worker' }, async ({ chromium }, { onCleanup }) => {
    if ('missing' in chromium) return chromium
    const browser = await launch(chromium)
    onCleanup(() => browser.close())
    return browser
  })

  .extend('guard', async ({ onTestFinished }) => {
    const guard = new Guard()
    onTestFinished(() => expect(guard.problems(), 'problems of the pages').toEqual([]))
    return guard
  })

  .extend('visit', async ({ browser, guard, skip }, { onCleanup }): Promise<Visit> => {
    if ('missing' in browser) {
      if (inject('chromiumRequired')) throw new Error(`a browser is required (TEST_BROWSER): ${browser.missing}`)
      return skip(`no browser: ${browser.missing}`)
    }
    const contexts: BrowserContext[] = []
    onCleanup(async () => {
      await guard.settle(AbortSignal.timeout(5000))
      for (const context of contexts) await context.close()
    })
    return async (url, options) => {
      const context = await openContext(browser, options)
      contexts.push(context)
      const page = await context.newPage()
      await guard.watch(context, url)
      await page.goto(url)
      return page
    }
  })
