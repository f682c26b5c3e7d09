// The guides about frameworks show parts of programs that tests run.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT, walk } from '../rules/sources.ts'

/** With the heading of the section, if the other snippets of the page are tested elsewhere. */
const GUIDES: readonly { readonly page: string; readonly examples: readonly string[]; readonly heading?: string }[] = [
  { page: 'docs/nestjs.md', examples: ['nestjs'] },
  { page: 'docs/frameworks.md', examples: ['express', 'hono', 'fastify', 'next'] },
  { page: 'docs/sentry.md', examples: ['sentry'] },
  { page: 'docs/outbox.md', examples: ['prisma'], heading: 'Prisma' },
]

test.each(GUIDES)('$page: each snippet is a part of an example', ({ page, examples, heading }) => {
  const [, section] = heading === undefined ? ['', read(page)] : read(page).split(`\n### ${heading}\n`)
  const text = heading === undefined ? section : section?.split('\n## ')[0]
  const snippets = [...String(text).matchAll(/^```(?:ts|js|json)\n(.*?)^```$/gms)].map(([, snippet = '']) => snippet)
  expect(snippets.length).toBeGreaterThan(1)
  const files = examples.flatMap((example) => walk(`${ROOT}/apps/examples/${example}`)).map((file) => readFileSync(file, 'utf8'))
  expect(snippets.filter((snippet) => !files.some((code) => code.includes(snippet)))).toEqual([])
})

function read(page: string): string {
  return readFileSync(`${ROOT}/${page}`, 'utf8')
}
