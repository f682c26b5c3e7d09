import { expect } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { serve } from './serve.ts'
import { test } from './test.ts'

/** The policy that the dashboard will have. */
const POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
const STYLE = ':root { color-scheme: light dark; background: light-dark(#fff, #000); color: light-dark(#000, #444) }'

function servePage(main: string, style = ''): Promise<string> {
  return serve((request) => {
    if (request.url.endsWith('/style.css')) return new Response(style, { headers: { 'content-type': 'text/css' } })
    const html = `<!doctype html><html lang="en"><title>A page</title><link rel="stylesheet" href="/style.css"><main><h1>A page</h1>${main}</main>`
    return new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': POLICY } })
  })
}

test('a page without faults passes, under the strictest policy and without a trace', async ({ visit }) => {
  const page = await visit(await servePage('<p>Text</p>'))
  await expectAccessible(page)
  expect(await page.evaluate<unknown>('[typeof axe, matchMedia("(prefers-color-scheme: dark)").matches]')).toEqual(['undefined', false])
})

test('a fault is named by its rule, its weight and its place', async ({ visit }) => {
  const page = await visit(await servePage('<button id="save"></button>'))
  await expect(expectAccessible(page)).rejects.toThrow(/accessibility of http/)
  const error = await expectAccessible(page).catch((thrown: { actual: unknown }) => thrown)
  expect(error).toMatchObject({
    actual: [expect.stringMatching(/^button-name \(critical\): #save: Fix any of the following: Element does not have/)],
  })
})

test('a fault of dark colours alone is found', async ({ visit }) => {
  const page = await visit(await servePage('<p id="text">Text</p>', STYLE))
  const error = await expectAccessible(page).catch((thrown: { actual: unknown }) => thrown)
  expect(error).toMatchObject({
    actual: [
      expect.stringMatching(/^dark: color-contrast \(serious\): h1: /),
      expect.stringMatching(/^dark: color-contrast \(serious\): #text: /),
    ],
  })
})

test('a page that is open in dark colours stays so', async ({ visit }) => {
  const page = await visit(await servePage('<p>Text</p>'), { colorScheme: 'dark' })
  await expectAccessible(page)
  expect(await page.evaluate<unknown>('matchMedia("(prefers-color-scheme: dark)").matches')).toBe(true)
})

test('of many elements with a fault, three are named', async ({ visit }) => {
  const page = await visit(await servePage('<div role="img"></div>'.repeat(10)))
  const error = await expectAccessible(page).catch((thrown: { actual: unknown }) => thrown)
  const { actual } = error as { actual: readonly string[] }
  expect(actual).toHaveLength(4)
  expect(actual[3]).toBe('role-img-alt (serious): 7 more elements')
})
