// The guides about frameworks show parts of programs that tests run.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT, walk } from '../rules/sources.ts'

const GUIDES: readonly (readonly [page: string, examples: readonly string[]])[] = [
  ['docs/nestjs.md', ['nestjs']],
  ['docs/frameworks.md', ['express', 'hono', 'fastify', 'next']],
  ['docs/sentry.md', ['sentry']],
]

test.each(GUIDES)('%s: each snippet is a part of an example', (page, examples) => {
  const snippets = [...readFileSync(`${ROOT}/${page}`, 'utf8').matchAll(/^```(?:ts|js|json)\n(.*?)^```$/gms)].map(([, text = '']) => text)
  expect(snippets.length).toBeGreaterThan(1)
  const files = examples.flatMap((example) => walk(`${ROOT}/apps/examples/${example}`)).map((file) => readFileSync(file, 'utf8'))
  expect(snippets.filter((snippet) => !files.some((text) => text.includes(snippet)))).toEqual([])
})
