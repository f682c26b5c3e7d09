import { expect, test } from 'vitest'
import { anchorsOf, firstSentenceOf, plainOf, slugOf, titleOf } from './markdown.ts'

test.for([
  ['What is logged', 'what-is-logged'],
  ['`millrace jobs list`', 'millrace-jobs-list'],
  ["The handler's context: a_b & c-d", 'the-handlers-context-a_b--c-d'],
  ['Größe', 'größe'],
] as const)('the anchor of %s', ([heading, anchor]) => {
  expect(slugOf(heading)).toBe(anchor)
  // The site makes the anchor of a link the same way.
  expect(slugOf(anchor)).toBe(anchor)
})

test('anchors: links read as their texts, code has none, and the same heading is numbered', () => {
  const page = '# A [b](c.md)\n\n## Same\n\n```sh\n# comment\n```\n\n## Same\n\n### Same\n'
  expect([...anchorsOf(page)]).toEqual(['a-b', 'same', 'same-1', 'same-2'])
})

test('plain text has no links, ticks and emphasis', () => {
  expect(plainOf('**Take** `a`\nof [the `b`](c.md)')).toBe('Take a of the b')
})

test('the title and the first sentence', () => {
  const page = '<!-- made -->\n# `a` of b\n\n```ts\nnot()\n```\n\n> no\n\n| no |\n\nNode.js 22.14 runs\n[it](x.md): `well`. More.\n'
  expect(titleOf(page)).toBe('a of b')
  expect(firstSentenceOf(page)).toBe('Node.js 22.14 runs it: well.')
})

test('a paragraph without a full stop is a sentence', () => {
  expect(firstSentenceOf('# a\n\nAll of these:\n\n- b')).toBe('All of these:')
})
