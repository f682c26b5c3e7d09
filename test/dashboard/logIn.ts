/** Logs in by the page, as a person does. */
import type { Page } from 'playwright-core'
import { tokenOf, type Who } from './test.ts'

/** Types the token into the page that is shown, which must be the log-in, and waits for the frame. */
export async function logIn(page: Page, who: Who): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(tokenOf(who))
  await page.getByRole('button', { name: /^Log in/ }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}
