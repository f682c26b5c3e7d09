/**
 * docs/configuration.md says what the schema does: every setting, its default, its variable and what it is.
 * After a change: `vitest run --project unit apps/millrace/src/config/reference.test.ts -u` writes the table of settings anew, and the keys of
 * those that change at run time.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { KEYS, SETTABLE, variableOf } from './keys.ts'
import { isDefault, SETTING_KEYS } from './settings.ts'

const PAGE = fileURLToPath(new URL('../../../../docs/configuration.md', import.meta.url))
const page = readFileSync(PAGE, 'utf8')
const SETTINGS = /(?<=^\| setting \| default \| variable \| what it is \|\n\|---\|---\|---\|---\|\n)(?:\|.*\n)+/m
const AT_RUN_TIME = /(?<=^\| key \| value \|\n\|---\|---\|\n)(?:\|.*\n)+/m

const rows = KEYS.map(({ key, text, preset }) => {
  const variable = SETTABLE.includes(key) ? `\`${variableOf(key)}\`` : ''
  return `| \`${key}\` | ${preset === undefined ? '' : `\`${JSON.stringify(preset).replaceAll('"', '')}\``} | ${variable} | ${text} |\n`
})

/** The settings that a row describes together. */
const groupOf = (key: string) => /^.*(?=\.)/.exec(key)?.[0] ?? (isDefault(key) ? 'default' : key === 'paused' ? key : 'setting')
const groupWith = (key: string) => SETTING_KEYS.filter((each) => groupOf(each) === groupOf(key))
const listed = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(', ')

const FIRST_KEY = /^\| `([^`]+)`[^|]*/gm

test('every setting is in the reference, and nothing else is', async () => {
  expect(page).toMatch(SETTINGS)
  const anew = page
    .replace(SETTINGS, () => rows.join(''))
    .replace(AT_RUN_TIME, (table) => table.replace(FIRST_KEY, (_, key: string) => `| ${listed(groupWith(key))} `))
  await expect(anew).toMatchFileSnapshot(PAGE)
})

test('every setting says what it does', () => {
  expect(KEYS.filter(({ text }) => text === '').map(({ key }) => key)).toEqual([])
})

test('every setting that changes at run time is in its table, and nothing else is', () => {
  const [table = ''] = AT_RUN_TIME.exec(page) ?? []
  const keys = [...table.matchAll(FIRST_KEY)].flatMap(([, key = '']) => groupWith(key))
  expect(keys.toSorted()).toEqual([...SETTING_KEYS].sort())
})
