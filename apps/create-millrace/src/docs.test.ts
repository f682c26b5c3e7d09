// docs/create.md and the README name what the program has. test/consumers runs the blocks.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HELP } from './arguments.ts'
import * as errors from './errors.ts'
import { TEMPLATES } from './templates.ts'

const GUIDE = readFileSync(new URL('../../../docs/create.md', import.meta.url), 'utf8')
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const cells = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, cell]) => cell)

test('the tables of templates are the table of the program', () => {
  const names = TEMPLATES.map(({ name }) => name)
  expect(cells(GUIDE, /^\| `([a-z][a-z-]*)` \|/gm)).toEqual(names)
  for (const { name, about } of TEMPLATES) expect(README).toContain(`| \`${name}\` | ${about} |`)
})

test('the guide has each flag of the help, and the first example of it', () => {
  const flags = cells(HELP, /^ +(?:-\w, )?(--[\w-]+)/gm)
  expect(flags.length).toBeGreaterThan(3)
  expect(cells(GUIDE, /^\| .*`(--[\w-]+)/gm)).toEqual(flags)
  const [, example = ''] = /^Example:\n {2}(.+)$/m.exec(HELP) ?? []
  expect(GUIDE).toContain(`\`\`\`sh\n${example}\n`)
  expect(README).toContain(`    ${example}\n`)
})

test('the guide has each error', () => {
  const codes = Object.values(errors).flatMap((value) => ('code' in value ? [value.code] : []))
  expect(codes.length).toBeGreaterThan(4)
  for (const code of codes) expect(GUIDE).toContain(`(\`${code}\`)`)
})
