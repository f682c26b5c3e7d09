// The pages that a newcomer reads first, and what the command line prints as help, are in plain words and short sentences.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clausesOf, textsOf, UNUSUAL, WORDS_MAX, wordsOf } from './sentences.ts'
import { ROOT, SOURCES } from './sources.ts'

const PAGES = ['README.md', 'SECURITY.md', 'docs/README.md', 'docs/compare.md', 'docs/platforms.md', 'docs/tutorial.md']

test.each(PAGES)('%s: plain words, and at most 25 of them in a sentence', (path) => {
  const sentences = textsOf(readFileSync(join(ROOT, path), 'utf8')).flatMap(clausesOf)
  expect(sentences.filter((sentence) => UNUSUAL.test(sentence))).toEqual([])
  expect(sentences.filter((sentence) => wordsOf(sentence) > WORDS_MAX)).toEqual([])
})

test('help of the command line: plain words', () => {
  const commands = SOURCES.filter(({ path, testing }) => path.startsWith('apps/millrace/src/cli/') && !testing)
  const help = commands.flatMap(({ path, code }) =>
    [...code.matchAll(/(?:\.(?:description|option|argument|requiredOption)|new (?:Option|Argument))\(([^)]*)\)/g)].flatMap(
      ([, args = '']) => [...args.matchAll(/'([^'\n]*)'|`([^`\n]*)`/g)].map(([, one, other]) => `${path}: ${one ?? other}`),
    ),
  )
  expect(help.length).toBeGreaterThan(150)
  expect(help.filter((text) => UNUSUAL.test(text))).toEqual([])
})

/** Of those who develop with the engine: names of tests, and the tables of docs/protocol.md. */
const NOT_SHOWN = /^packages\/(?:testkit\/src\/(?:conformance|leftovers)|wire\/src\/schema\/)/

test('what programs print, answer and throw: plain words', () => {
  const texts = SOURCES.filter(({ path, testing }) => !testing && !NOT_SHOWN.test(path)).flatMap(({ path, code }) =>
    [...code.matchAll(/'([^'\n]{12,})'|`([^`\n]{12,})`|"([^"\n]{12,})"/g)].map(([, ...texts]) => `${path}: ${texts.find(Boolean)}`),
  )
  const sentences = texts.filter((text) => / \w+ \w+ /.test(text) && !/\b(?:SELECT|UPDATE) /.test(text))
  expect(sentences.length).toBeGreaterThan(500)
  expect(sentences.filter((text) => UNUSUAL.test(text.replace(/\$\{[^}]*\}/g, '')))).toEqual([])
})

/** Openings of texts that leave out what they are about. A question and a heading of a test's own are none. */
const FRAGMENT = /^(?:Of|Whose|Whether|What|Where|Those|Who|Whom|One that)\b[^?]*$/

test('what programs and pages show is no fragment', () => {
  const shown = SOURCES.filter(({ path, testing }) => !testing && !NOT_SHOWN.test(path)).flatMap(({ path, code }) =>
    [...code.matchAll(/'([^'\n]{12,})'|`([^`\n]{12,})`|"([^"\n]{12,})"/g)].map(
      ([, ...texts]) => [path, texts.find(Boolean) ?? ''] as const,
    ),
  )
  expect(shown.filter(([, text]) => / \w+ \w+/.test(text) && FRAGMENT.test(text))).toEqual([])
})

test('messages say what must be, not what is', () => {
  const wrong =
    /\$\{?\w*option\w*\}? is (?:from|at least|at most|a whole number|a duration)\b|choose a number within|Error\([^\n]*\b(?:is|are|has) [^\n`'"]*, (?:and )?not (?:a )?\$\{/
  expect(SOURCES.filter(({ code, testing }) => !testing && wrong.test(code)).map(({ path }) => path)).toEqual([])
})

/** Openings that leave out what a comment is about. */
const HEADLESS = /\/\*\*\s*(?:\* )?(?:Of|What|Whose|Whether|Who|Whom|Whoever|One that|Those|Where)\b[^\n]*/g

test('a doc comment says what it is about', () => {
  const comments = SOURCES.filter(({ testing }) => !testing).flatMap(({ path, text }) =>
    [...text.matchAll(HEADLESS)].map(({ 0: comment, index }) => `${path}:${text.slice(0, index).split('\n').length} ${comment}`),
  )
  expect(comments).toEqual([])
})
