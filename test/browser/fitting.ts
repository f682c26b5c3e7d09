/** Looks at a page in a wide window, and in one as narrow as a phone. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from './accessible.ts'

export const DESK = { width: 1_280, height: 844 } as const
export const PHONE = { width: 390, height: 844 } as const

/** Fails unless the page is accessible and as wide as its window, on a desk and on a phone. It stays as wide as a phone. */
export async function expectFitting(page: Page, what: string): Promise<void> {
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size)
    await expect
      .poll(() => page.evaluate<number>('document.documentElement.scrollWidth'), { message: `the width of ${what}` })
      .toBe(size.width)
    await expectAccessible(page)
  }
}
