/** Tests of pages of which some fail: test/browser/outcomes.test.ts looks at how they end. */
import { expect } from 'vitest'
import { serve } from '../serve.ts'
import { test } from '../test.ts'

const servePage = (body: string) =>
  serve(() => new Response(`<!doctype html><title>A page</title>${body}`, { headers: { 'content-type': 'text/html' } }))

test('a good page', async ({ visit }) => {
  const page = await visit(await servePage(''))
  expect(await page.title()).toBe('A page')
})

test('a bad page', async ({ visit }) => {
  const page = await visit(await servePage('<script>console.error("wrong")</script>'))
  expect(await page.title()).toBe('A page')
})

test('a bad page in a test that fails', async ({ visit }) => {
  const page = await visit(await servePage('<script>console.error("wrong")</script>'))
  expect(await page.title()).toBe('Another page')
})

test('no page', () => {})
