/** `test` for pages: opens them in a browser, and fails if one does what no page of Millrace may do. */
import type { Page } from 'playwright-core'
import { test as base, expect, inject } from 'vitest'
import { Guard } from './guard.ts'
import { launch } from './launch.ts'
import { type Opened, SharedWindow, type VisitOptions } from './window.ts'

/** Opens a page without a cookie or storage of another. The first one of a test is in a window that tests use in turn. */
export type Visit = (url: string, options?: VisitOptions) => Promise<Page>

export const test = base
  .extend('chromium', { scope: 'worker' }, inject('chromium'))

  .extend('browser', { scope: 'worker' }, async ({ chromium }, { onCleanup }) => {
    if ('missing' in chromium) return chromium
    const browser = await launch(chromium)
    onCleanup(() => browser.close())
    return browser
  })

  .extend('windows', { scope: 'worker' }, ({ browser }) => ('missing' in browser ? browser : new SharedWindow(browser)))

  .extend('guard', async ({ onTestFinished }) => {
    const guard = new Guard()
    onTestFinished(() => expect(guard.problems(), 'problems of the pages').toEqual([]))
    return guard
  })

  .extend('visit', async ({ windows, guard, skip }, { onCleanup }): Promise<Visit> => {
    if ('missing' in windows) {
      if (inject('chromiumRequired')) throw new Error(`a browser is required (TEST_BROWSER): ${windows.missing}`)
      return skip(`no browser: ${windows.missing}`)
    }
    const opened: Opened[] = []
    onCleanup(async () => {
      await guard.settle(AbortSignal.timeout(5000))
      for (const each of opened) await each.close()
    })
    return async (url, options) => {
      const each = await windows.open(url, guard, options)
      opened.push(each)
      return each.page
    }
  })
