import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadHandlers } from './handlers.ts'

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-handlers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return folder
}

const made = (name: string) => `{ kind: 'inline', definition: { name: '${name}' }, run: () => {} }`

test('handlers under any name, in arrays, and once each', async () => {
  const folder = folderWith(
    'jobs.mjs',
    `export const one = ${made('one')}\nexport const more = [${made('two')}, one]\nexport default ${made('three')}\nexport const other = 5, nothing = null`,
  )
  const handlers = await loadHandlers(['./jobs.mjs', join(folder, 'jobs.mjs')].slice(0, 1), folder)
  expect(handlers.map(({ definition }) => definition.name).toSorted()).toEqual(['one', 'three', 'two'])
})

test.each([
  ['export const one = 5', 'exports no handler'],
  ['throw new Error("broken")', 'cannot be loaded: broken'],
])('%s is refused', async (text, message) => {
  const folder = folderWith('jobs.mjs', text)
  await expect(loadHandlers(['jobs.mjs'], folder)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
})
