// The dashboard shows names and payloads of others as text, and keeps to a policy that allows no markup and no styles within.
import { expect, test } from 'vitest'
import { placesOf, SOURCES, targetOf } from './sources.ts'

const PAGE = SOURCES.filter(({ path }) => path.startsWith('apps/dashboard/src/page/'))
const SHOWN = PAGE.filter(({ testing }) => !testing)

const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'markup from strings',
    /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|createContextualFragment)\b/,
  ],
  ['styles in attributes', /\bstyle=|cssText|setAttribute\(['"]style/],
  ['code from strings', /\beval\(|new Function\(/],
  ['addresses elsewhere', /['"`]https?:\/\//],
  ['the language of the browser', /navigator\.languages?\b|toLocale\w*String\(/],
]

test('there is a page to look at', () => {
  expect(SHOWN.length).toBeGreaterThan(50)
})

test.each(FORBIDDEN)('no %s', (_what, pattern) => {
  expect(SHOWN.flatMap((source) => placesOf(source, pattern))).toEqual([])
})

test('time and timers come from the clock alone', () => {
  const ambient =
    /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bperformance\.now\b|\bset(?:Timeout|Interval)\b|\brequestAnimationFrame\b|\bMath\.random\b/
  const wrong = SHOWN.filter(({ path }) => path !== 'apps/dashboard/src/page/clock.ts').flatMap((source) => placesOf(source, ambient))
  expect(wrong).toEqual([])
})

test('the page knows packages by their types alone, but for preact', () => {
  const wrong = SHOWN.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier, typeOnly }) => !typeOnly && !/^(?:\.|preact(?:\/hooks)?$|@preact\/signals$)/.test(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('logic is tested without a browser: what is no view reaches none, and not the objects of the page', () => {
  const logic = PAGE.filter(({ path }) => path.endsWith('.test.ts'))
  expect(logic.length).toBeGreaterThan(10)
  const wrong = logic.flatMap((source) =>
    source.imports
      .filter(
        ({ specifier, typeOnly }) =>
          !typeOnly && specifier.startsWith('.') && /\.tsx$|\/page\/(?:page|hooks|main)\.tsx?$/.test(targetOf(source, specifier)),
      )
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})
