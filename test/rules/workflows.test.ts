// What runs with the rights to publish is what was reviewed: an action by its commit, a tool by its version, and no token left on disk.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const FOLDER = join(ROOT, '.github/workflows')
const WORKFLOWS = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }))

test.each(WORKFLOWS)('$name names each action by its commit, and keeps no credentials', ({ text }) => {
  const steps = text.split(/^ +- (?=uses:)/m).slice(1)
  expect(steps.length).toBeGreaterThan(0)
  for (const step of steps) {
    expect(step.split('\n')[0]).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    if (step.startsWith('uses: actions/checkout@')) expect(step).toContain('persist-credentials: false')
  }
})

test('the release runs the pnpm that package.json names', () => {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly packageManager: string }
  const { text = '' } = WORKFLOWS.find(({ name }) => name === 'release.yml') ?? {}
  const used = text.match(/pnpm@[\w.]+/g) ?? []
  expect(used.length).toBeGreaterThan(2)
  expect(new Set(used)).toEqual(new Set([packageManager]))
})
