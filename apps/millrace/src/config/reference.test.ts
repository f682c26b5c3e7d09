/** docs/configuration.md says what the schema does: every setting, its default, its variable and what it is. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KEYS, SETTABLE, variableOf } from './keys.ts'

const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8')

const rows = KEYS.map(({ key, text, preset }) => {
  const variable = SETTABLE.includes(key) ? `\`${variableOf(key)}\`` : ''
  return `| \`${key}\` | ${preset === undefined ? '' : `\`${JSON.stringify(preset).replaceAll('"', '')}\``} | ${variable} | ${text} |`
})

test('every setting is in the reference, and nothing else is', () => {
  expect(page.split('\n').filter((line) => /^\| `[a-z]+(?:[A-Z.<][\w.<>]*)?` \|.*\|.*\|.*\|$/.test(line))).toEqual(rows)
})

test('every setting says what it does', () => {
  expect(KEYS.filter(({ text }) => text === '').map(({ key }) => key)).toEqual([])
})
