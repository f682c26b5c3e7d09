// Every page that a user reads to use Millrace opens with what it is for, in short and plain sentences.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOME, pagesOf, readContents } from '../../apps/docs/src/contents.ts'
import { clausesOf, sentencesOf, textsOf, UNUSUAL, WORDS_MAX, wordsOf } from './sentences.ts'
import { ROOT } from './sources.ts'

const GROUPS = ['Start', 'Concepts', 'Guides', 'Reference', 'Operate', 'Migrate']
/** Pages of the proof that strangers read. */
const FURTHER = ['reliability', 'performance', 'other-bugs', 'security-checklist', 'requirements', 'internals', 'vocabulary'].map(
  (name) => `docs/${name}.md`,
)
/** Opens with the sentence that says what Millrace is. */
const PITCH = 'README.md'

const SENTENCE_WORDS_MAX = 30
const OPENING_SENTENCES_MAX = 3

const WORDS =
  /\b(?:tells?|telling|whatever|whichever|all the same|going on|went on|in vain|the very|is so for|lest|thereof|hence|whence)\b/i

const RULES: readonly (readonly [name: string, wrong: (sentence: string) => boolean])[] = [
  ['plain words', (sentence) => UNUSUAL.test(sentence) || WORDS.test(sentence)],
  [
    'no clause as the subject',
    (sentence) => /^[^\w‹]*(?:What|Whether|Whose|Where|Who|Of|One (?:that|who)|Those (?:that|who|of|whose))\b[^?]*$/.test(sentence),
  ],
  [
    'no inversion',
    (sentence) => /(?:^|[,;:] )(?:(?:and|but) )?(?:nor|neither|so) (?:is|are|do|does|did|can|may|must|has|have|had)\b/i.test(sentence),
  ],
  ['if or when, not where', (sentence) => /, where\b(?!,)|^\W*Where\b/.test(sentence)],
]

/** Returns what is wrong with the text of a page, each with its sentence. */
function faultsOf(page: string): string[] {
  return textsOf(page)
    .filter((text) => !text.startsWith('#'))
    .flatMap((text) => [
      ...clausesOf(text).flatMap((clause) =>
        wordsOf(clause) > WORDS_MAX && sentencesOf(clause).some(isLong) ? [`too long: ${clause}`] : [],
      ),
      ...sentencesOf(text).flatMap((sentence) => [
        ...(wordsOf(sentence) > SENTENCE_WORDS_MAX ? [`too long: ${sentence}`] : []),
        ...RULES.filter(([, wrong]) => wrong(sentence)).map(([name]) => `${name}: ${sentence}`),
      ]),
    ])
}

const isLong = (sentence: string): boolean => wordsOf(sentence) > WORDS_MAX

/** Returns the paragraph right below the title, or undefined if something else stands there. */
function openingOf(page: string): string | undefined {
  const body = page.replace(/^---\n.*?\n---\n+/s, '')
  const paragraph = /^# [^\n]+\n\n(?!```|\*\*| {4}|\d+\. |[-|#>!<])((?:[^\n]+\n)+)\n/.exec(body)?.[1]
  return paragraph?.replace(/\s+/g, ' ').trim()
}

function openingFaultsOf(page: string): string[] {
  const opening = openingOf(page)
  if (opening === undefined) return ['no paragraph stands right below the title']
  const faults = sentencesOf(opening).length > OPENING_SENTENCES_MAX ? [`more than ${OPENING_SENTENCES_MAX} sentences: ${opening}`] : []
  return /\b(?:you|Read|Use|Follow|Choose)\b/i.test(opening) ? faults : [...faults, `does not say when one needs the page: ${opening}`]
}

const groups = readContents().filter(({ name }) => GROUPS.includes(name))
const pages = [...new Set([...pagesOf(groups).map(({ path }) => path), HOME, ...FURTHER])].filter((path) => path.endsWith('.md'))

test('the groups have pages', () => {
  expect(groups.map(({ name }) => name)).toEqual(GROUPS)
  expect(pages.length).toBeGreaterThan(25)
})

/** A page of each folder of examples. It opens with what its program does. */
const examples = globSync('apps/examples/*/README.md', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'))

test('the examples have pages', () => {
  expect(examples.length).toBeGreaterThan(10)
})

test.each([...pages, ...examples])('%s is in plain and short sentences', (path) => {
  expect(faultsOf(readFileSync(join(ROOT, path), 'utf8'))).toEqual([])
})

test.each(pages.filter((path) => path !== PITCH))('%s opens with what it is for', (path) => {
  expect(openingFaultsOf(readFileSync(join(ROOT, path), 'utf8'))).toEqual([])
})

test.each([
  ['Where the writer dies, these end.', 'no clause as the subject'],
  ['A page ends at the limit, where there is one.', 'if or when, not where'],
  ['What runs finishes.', 'no clause as the subject'],
  ['A refused call has no event, nor has a repeat.', 'no inversion'],
  ['An array is one call, and so is a flow.', 'no inversion'],
  ['The worker is told.', 'plain words'],
  ['Keys hold whatever happens.', 'plain words'],
  [`${'word '.repeat(WORDS_MAX)}end.`, 'too long'],
  [`First: ${'word '.repeat(20)}; ${'word '.repeat(20)}end.`, 'too long'],
])('finds %s', (sentence, fault) => {
  const page = `# Title\n\nThis page is about faults. Read it.\n\n- A first item.\n- ${sentence}\n`
  expect(faultsOf(page).map((found) => found.slice(0, fault.length))).toContain(fault)
})

test('reads on behind code, and neither reads code nor comments', () => {
  const code = '    node whatever.ts\n\n```ts\nwhatever()\n```\n\n<!-- whatever -->'
  expect(faultsOf(`# Title\n\nText.\n\n${code}\n\nThe worker is told.\n`)).toEqual(['plain words: The worker is told.'])
})

test('finds a page that does not open with what it is for', () => {
  expect(openingFaultsOf('# Title\n\n- A list.\n\nText.\n')).toHaveLength(1)
  expect(openingFaultsOf('# Title\n\n```ts\n```\n\nText.\n')).toHaveLength(1)
  expect(openingFaultsOf('# Title\n\nThe engine has a queue.\n\nText.\n')).toHaveLength(1)
  expect(openingFaultsOf('# Title\n\nOne. Two. Three. You read four.\n\nText.\n')).toHaveLength(1)
  expect(openingFaultsOf('# Title\n\nOne. You read two.\n\nText.\n')).toEqual([])
})
