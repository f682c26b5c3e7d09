// The built site: its links lead somewhere, programs find each page, and people find the answers to their questions.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { pagesOf, readContents } from '../../apps/docs/src/contents.ts'
import { addressOf } from '../../apps/docs/src/links.ts'
import { titleOf } from '../../apps/docs/src/markdown.ts'
import { ROOT, readPage, repositoryAddress } from '../../apps/docs/src/root.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { serve } from '../browser/serve.ts'
import { QUESTIONS } from './questions.ts'
import { test } from './test.ts'

const linksOf = (html: string) => [...html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
const anchorsOf = (html: string) => new Set([...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id))

test('each page of docs is a page of the site, and there is no other', ({ site }) => {
  const wanted = ['/', ...pagesOf(readContents()).map(({ path }) => addressOf(path))]
  expect(site.pages().toSorted()).toEqual(wanted.toSorted())
})

test('each link within the site leads to a page, and to a heading of it', ({ site }) => {
  const anchors = new Map(site.pages().map((page) => [page, anchorsOf(site.html(page))]))
  const dead = site.pages().flatMap((page) =>
    linksOf(site.html(page))
      .filter((link) => /^[/#]/.test(link))
      .filter((link) => {
        const [path = '', anchor] = decodeURI(link).split('#')
        const there = anchors.get(path === '' ? page : path)
        return there === undefined ? !existsSync(join(site.folder, path)) : anchor !== undefined && !there.has(anchor)
      })
      .map((link) => `${page}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('each link to the repository leads to a file or folder that is there', ({ site }) => {
  const start = `${repositoryAddress()}/`
  const links = new Set(site.pages().flatMap((page) => linksOf(site.html(page)).filter((link) => link.startsWith(start))))
  const wrong = [...links].filter((link) => {
    const [, kind, path = ''] = /^(tree|blob|edit)\/main\/([^#]+)/.exec(link.slice(start.length)) ?? []
    const found = statSync(join(ROOT, path), { throwIfNoEntry: false })
    return kind === undefined || found === undefined || found.isDirectory() !== (kind === 'tree')
  })
  expect(links.size).toBeGreaterThan(100)
  expect(wrong).toEqual([])
})

test('no page links to a relative address, which would be another one on the host of the sources', ({ site }) => {
  expect(site.pages().flatMap((page) => linksOf(site.html(page)).filter((link) => !/^(?:[/#]|[a-z]+:)/.test(link)))).toEqual([])
})

test('llms.txt names each page, and llms-full.txt has the text of those for users', ({ site }) => {
  const list = site.read('llms.txt')
  const groups = readContents()
  for (const { path } of pagesOf(groups)) expect(list).toContain(`- [${titleOf(readPage(path))}](${addressOf(path)}): `)
  const text = site.read('llms-full.txt')
  const has = (name: string) =>
    pagesOf(groups.filter((group) => group.name === name)).map(({ path }) => text.includes(`<!-- ${addressOf(path)} -->`))
  for (const name of ['Start', 'Concepts', 'Guides', 'Reference']) expect(new Set(has(name)), name).toEqual(new Set([true]))
  for (const name of ['Operate', 'Migrate', 'Proof']) expect(new Set(has(name)), name).toEqual(new Set([false]))
})

test('at least twenty questions are asked', () => {
  expect(QUESTIONS.length).toBeGreaterThanOrEqual(20)
})

test.for(QUESTIONS)('$asked $words: $answer is result $rank', ({ words, answer, rank }, { index }) => {
  const results = index.search(words).map(({ id }) => id as string)
  // If this fails, give the page the words that people use, as a heading.
  expect(results.slice(0, rank), `the first results of "${words}"`).toContain(answer)
})

test.for(['light', 'dark'] as const)(
  'in %s colours, a reader searches for a word and follows the result',
  async (colorScheme, { visit, site }) => {
    const page = await visit(`${await serve((request) => site.answer(request))}/`, { colorScheme })
    await page.getByRole('heading', { level: 1, name: 'Millrace documentation' }).waitFor()
    // The page hears of keys once its script has run.
    const search = page.getByRole('searchbox')
    await expect
      .poll(
        async () => {
          await page.keyboard.press('Control+k')
          return search.isVisible()
        },
        { timeout: 30_000 },
      )
      .toBe(true)
    await search.fill('graceful shutdown')
    const first = page.getByRole('option').first()
    await first.filter({ hasText: 'Shutdown and deploys' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Shutdown and deploys' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/shutdown')
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const [red = 0] = background.match(/\d+/g)?.map(Number) ?? []
    expect(red > 128, background).toBe(colorScheme === 'light')
  },
)

test('pictures follow the colours that a reader chooses', async ({ visit, site }) => {
  const page = await visit(`${await serve((request) => site.answer(request))}/dashboard`, { colorScheme: 'light' })
  const shown = () =>
    page.locator('main img').evaluateAll((images) => images.filter((image) => image.checkVisibility()).map((image) => image.className))
  expect(new Set(await shown())).toEqual(new Set(['in-light']))
  await page.getByRole('switch').first().click()
  await expect.poll(async () => new Set(await shown())).toEqual(new Set(['in-dark']))
})

test.for(['/', '/workers', '/decisions/0054-mailbox'])('%s is accessible', async (address, { visit, site }) => {
  const page = await visit(`${await serve((request) => site.answer(request))}${address}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expectAccessible(page)
})

test.for(['/', '/compare', '/dashboard', '/reference/work'])('%s is as wide as a phone', async (address, { visit, site }) => {
  const page = await visit(`${await serve((request) => site.answer(request))}${address}`, { viewport: { width: 390, height: 844 } })
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
})
