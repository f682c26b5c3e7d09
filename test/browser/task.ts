/** Counts what a person has to do for a task: clicks, and keys apart from them. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export interface Effort {
  readonly clicks: number
  /** Keys that command. Text that is typed counts as none. */
  readonly keys: number
}

export interface User {
  click(target: Locator): Promise<void>
  /** Presses a key, as `Enter` or `Control+k`. */
  press(key: string): Promise<void>
  /** Types text into what has the focus. */
  type(text: string): Promise<void>
}

/** Performs a task, and fails if it takes another effort than that. A number means so many clicks, and no key. */
export async function task(page: Page, effort: number | Effort, perform: (user: User) => Promise<void>): Promise<void> {
  const spent = { clicks: 0, keys: 0 }
  await perform({
    async click(target) {
      await target.click()
      spent.clicks++
    },
    async press(key) {
      await page.keyboard.press(key)
      spent.keys++
    },
    type: (text) => page.keyboard.type(text),
  })
  expect(spent, 'effort of the task').toEqual(typeof effort === 'number' ? { clicks: effort, keys: 0 } : effort)
}
