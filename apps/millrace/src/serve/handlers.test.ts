import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { handlersOfModule, loadHandlers } from './handlers.ts'

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

test('what is wrong is an error of whoever has named the module', async () => {
  const folder = folderWith('jobs.mjs', "export const a = { kind: 1 }, b = [null, 3], c = { kind: 'inline' }")
  const refused = new Error('refused')
  const heard: string[] = []
  const refuse = (what: string) => {
    heard.push(what)
    return refused
  }
  await expect(handlersOfModule('jobs.mjs', folder, refuse)).rejects.toBe(refused)
  await expect(handlersOfModule('nowhere.mjs', folder, refuse)).rejects.toBe(refused)
  expect(heard).toEqual([expect.stringContaining('jobs.mjs exports no handler'), expect.stringContaining('nowhere.mjs cannot be loaded')])
})

test.each([
  ['export const one = 5', 'exports no handler'],
  ['throw new Error("broken")', 'cannot be loaded: broken'],
])('%s is refused', async (text, message) => {
  const folder = folderWith('jobs.mjs', text)
  await expect(loadHandlers(['jobs.mjs'], folder)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
})
