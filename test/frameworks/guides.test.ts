// The guides about frameworks show parts of programs that tests run.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT, walk } from '../rules/sources.ts'
import { BLOCKS } from '../snippets/blocks.ts'

interface Guide {
  readonly page: string
  readonly examples: readonly string[]
  /** The section, if the other snippets of the page are tested elsewhere. */
  readonly heading?: string
  /** Sections whose snippets are too small for a program: test/examples/snippetTypes.test.ts compiles them. */
  readonly without?: readonly string[]
}

const GUIDES: readonly Guide[] = [
  { page: 'docs/nestjs.md', examples: ['nestjs'], without: ['Several engines', 'Another engine, and tests'] },
  { page: 'docs/frameworks.md', examples: ['express', 'hono', 'fastify', 'next'] },
  { page: 'docs/sentry.md', examples: ['sentry'] },
  { page: 'docs/outbox.md', examples: ['prisma'], heading: 'Prisma' },
]

test.each(GUIDES)('$page: each snippet is a part of an example', ({ page, examples, heading, without = [] }) => {
  const blocks = BLOCKS.filter((block) => block.page === page && /^(?:ts|js|json)$/.test(block.language))
  const chosen = blocks.filter((block) => (heading === undefined || block.heading === heading) && !without.includes(block.heading))
  const snippets = chosen.map(({ text }) => text)
  expect(snippets.length).toBeGreaterThan(1)
  const files = examples.flatMap((example) => walk(`${ROOT}/apps/examples/${example}`)).map((file) => readFileSync(file, 'utf8'))
  expect(snippets.filter((snippet) => !files.some((code) => code.includes(snippet)))).toEqual([])
})
