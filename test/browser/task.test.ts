import { expect } from 'vitest'
import { serve } from './serve.ts'
import { task } from './task.ts'
import { test } from './test.ts'

const HTML = `<!doctype html><html lang="en"><title>A form</title><main><h1>A form</h1>
<label>Name <input></label> <button type="button">Save</button>`

const serveForm = () => serve(() => new Response(HTML, { headers: { 'content-type': 'text/html' } }))

test('clicks and keys are counted apart, and typed text is not', async ({ visit }) => {
  const page = await visit(await serveForm())
  const perform = task(page, { clicks: 1, keys: 2 }, async (user) => {
    await user.click(page.getByRole('textbox'))
    await user.type('Ada')
    await user.press('Shift+B')
    await user.press('Tab')
  })
  await perform
  expect(await page.getByRole('textbox').inputValue()).toBe('AdaB')
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Save')
})

test('a click too many, a click too few and a key instead of a click fail', async ({ visit }) => {
  const page = await visit(await serveForm())
  const save = page.getByRole('button')
  const twice = () =>
    task(page, 1, async (user) => {
      await user.click(save)
      await user.click(save)
    })
  await expect(twice()).rejects.toThrow(/effort of the task/)
  await expect(task(page, 2, (user) => user.click(save))).rejects.toThrow(/effort of the task/)
  await expect(task(page, 1, (user) => user.press('Enter'))).rejects.toThrow(/effort of the task/)
})

test('a task that cannot be performed fails as it does', async ({ visit }) => {
  const page = await visit(await serveForm())
  page.setDefaultTimeout(100)
  await expect(task(page, 1, (user) => user.click(page.getByRole('button', { name: 'Delete' })))).rejects.toThrow(/waiting for/)
})
