/** The dashboard of `millrace demo`, as somebody sees it who has just heard of Millrace. */
import { expect, onTestFinished } from 'vitest'
import { Place } from '../app/millrace.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { test } from '../browser/test.ts'

test('T6: enqueue a job, and one that fails, by one click each; everything is accessible on a phone, too', async ({ visit }) => {
  const demo = new Place().start('demo', '--port', '0', '--json')
  onTestFinished(async () => {
    demo.child.kill('SIGINT')
    expect(await demo.ended).toMatchObject({ code: 0, stderr: '' })
  })
  const { url } = JSON.parse(await demo.said(/"url"/)) as { url: string }
  const page = await visit(url, { viewport: { width: 390, height: 844 } })
  // A page that is open would notice the end of its server.
  onTestFinished(() => void page.goto('about:blank'))
  await page.getByText('Nobody serves rebuild-synonyms', { exact: true }).waitFor()
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Enqueue a job' })))
  await page.getByText('Enqueued send-receipt.').waitFor()
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Enqueue one that fails' })))
  expect((await answered).status()).toBe(201)
  await expectAccessible(page)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  const { jobs } = (await (await fetch(`${url}/v1/jobs?search=you@example.com`)).json()) as { jobs: unknown[] }
  expect(jobs).toHaveLength(2)
})
