/** The dashboard of a daemon in a process of its own, as the one sees it who follows what the daemon prints. */
import { expect } from 'vitest'
import { startDaemon, tokenIn } from '../app/daemon.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from '../browser/test.ts'
import { temporaryFolder } from '../temporary.ts'

test('the printed address asks for the token, and shows the overview', async ({ visit, guard }) => {
  guard.expect(/401 .*\/v1\/session/)
  const folder = temporaryFolder()
  const { dashboard } = await startDaemon(folder, { flags: { 'http-instance-name': 'staging' } }).serving
  const page = await visit(dashboard as string)
  await page.getByRole('textbox', { name: 'Token' }).fill(tokenIn(folder))
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Log in' })))
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText('staging').first().waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe('/')
  await expectAccessible(page)
})
