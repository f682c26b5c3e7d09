// What is tracked says nothing about the machines that it was made on.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

/** What may be tracked soon counts too. */
const tracked = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)

const WORDS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['folders of a machine', /(?<![\w.~)}-])\/(?:work|root|workspace|home\/\w+|Users\/\w+)\/\w/],
  ['folders of a machine', /\b[A-Z]:\\Users\\/],
  ['registries', /\bregistry\s*=|--registry\b|\bregistry\.(?:npmjs|yarnpkg|npmmirror)\b|_authToken|\b(?:verdaccio|artifactory|nexus3?)\b/i],
]

test.for(WORDS)('no words about %s: %s', ([, pattern], { skip }) => {
  if (!existsSync(join(ROOT, '.git'))) skip('not a checkout: nothing says what is tracked')
  const wrong = tracked()
    .filter((path) => path !== 'test/rules/words.test.ts' && existsSync(join(ROOT, path)))
    .flatMap((path) => {
      const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
      return lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : []))
    })
  expect(wrong).toEqual([])
})

test('nothing that a machine makes is tracked, but for fixtures', ({ skip }) => {
  if (!existsSync(join(ROOT, '.git'))) skip('not a checkout: nothing says what is tracked')
  expect(
    tracked().filter(
      (path) =>
        !path.includes('/fixtures/') &&
        /(?:^|\/)(?:node_modules|dist|coverage)\/|\.(?:db|db-wal|db-shm|log|tsbuildinfo|tgz)$|\.npmrc$|\.env$/.test(path),
    ),
  ).toEqual([])
})
