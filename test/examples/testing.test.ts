// apps/examples/testing, each in its own runner, and docs/testing.md, whose snippets are taken from there.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { BUILT } from '../built.ts'
import { run } from '../consumers/run.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = `${ROOT}apps/examples/testing`

test('node:test', async () => {
  const { code, stdout, stderr } = await run(
    process.execPath,
    ['--test', '--test-isolation=none', 'first.node.test.ts', 'more.node.test.ts'],
    FOLDER,
    { env: BUILT },
  )
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toMatch(/pass 7\n/)
})

// Its runner is this one, which takes its test for one of this file.
describe('vitest', async () => {
  await import('../../apps/examples/testing/first.vitest.test.ts')
})

test('every snippet of the page is part of a file that runs: here, or in jest with the packed packages', () => {
  const files = [
    ...readdirSync(FOLDER)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${FOLDER}/${name}`),
    `${ROOT}test/consumers/programs/testkit.spec.mjs`,
  ]
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const snippets = [...readFileSync(`${ROOT}docs/testing.md`, 'utf8').matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map(
    (match) => match[1] as string,
  )
  expect(snippets.length).toBe(9)
  expect(snippets.filter((snippet) => !texts.some((text) => text.includes(snippet.trimEnd())))).toEqual([])
})
