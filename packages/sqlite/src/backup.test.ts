import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritableError } from '@millrace/core'
import type { Job } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { openCrowd } from './testing/crowd.ts'
import { lookInto, openTestStore, temporaryFolder } from './testing/files.ts'

test('a copy has everything, and draws a node of its own when it is opened', async () => {
  const { store, turns } = openCrowd()
  const folder = temporaryFolder()
  const copy = join(folder, 'copy.db')
  const { bytes } = await store.care.backup(copy)
  expect(bytes).toBe(statSync(copy).size)
  expect(readdirSync(folder)).toEqual(['copy.db'])
  // So that it can be read where nothing can be written.
  expect(lookInto(copy).pragma('journal_mode', { simple: true })).toBe('delete')
  const restored = openTestStore({ file: copy, random: () => 0.75 })
  expect(restored.node).not.toBe(store.node)
  expect(restored.load()).toEqual({ ...store.load(), node: restored.node })
  expect(restored.events(0, 1_000)).toEqual(store.events(0, 1_000))
  expect(restored.jobs([1, 2, 3])).toEqual(store.jobs([1, 2, 3]))
  // And keeps it.
  restored.close()
  const again = openTestStore({ file: copy, random: () => 0.1 })
  expect(again.node).toBe(restored.node)
  expect(store.load().node).toBe(store.node)
  turns.insert()
  turns.commit()
})

test('writes go on while a copy is made, and it holds what was there at its end', async () => {
  const { store, turns } = openCrowd()
  for (let job = 0; job < 3_000; job++) turns.insert({ data: JSON.stringify('x'.repeat(2_000)) })
  turns.commit()
  const copy = join(temporaryFolder(), 'copy.db')
  const backup = store.care.backup(copy)
  const during: Job[] = []
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    during.push(turns.insert())
    turns.commit()
  }
  await backup
  const restored = openTestStore({ file: copy })
  expect(restored.jobs(during.map(({ seq }) => seq))).toHaveLength(5)
  expect(lookInto(copy).pragma('integrity_check', { simple: true })).toBe('ok')
})

test('a file that exists is not overwritten', async () => {
  const { store } = openCrowd()
  const target = join(temporaryFolder(), 'a')
  writeFileSync(target, 'mine')
  await expect(store.care.backup(target)).rejects.toThrow(NotWritableError)
  expect(statSync(target).size).toBe(4)
})

test('a folder that is missing, or that is a file, is refused', async () => {
  const { store } = openCrowd()
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  for (const target of [join(folder, 'missing', 'copy.db'), join(folder, 'file', 'copy.db')])
    await expect(store.care.backup(target)).rejects.toMatchObject({ code: 'NOT_WRITABLE', path: target, retryable: false })
})

test('two backups to one file at once do not meet: the file is one of them, and the other is told', async () => {
  const [one, two] = [openCrowd().store, openCrowd().store]
  const folder = temporaryFolder()
  const target = join(folder, 'copy.db')
  const ends = await Promise.allSettled([one.care.backup(target), two.care.backup(target), one.care.backup(target)])
  const made = ends.filter((end) => end.status === 'fulfilled')
  expect(made.map(({ value }) => value)).toEqual([{ bytes: statSync(target).size }])
  for (const end of ends.filter((each) => each.status === 'rejected')) {
    expect(end.reason).toMatchObject({ code: 'NOT_WRITABLE', message: expect.stringContaining('Name a new one') })
  }
  expect(readdirSync(folder)).toEqual(['copy.db'])
  expect(lookInto(target).pragma('integrity_check', { simple: true })).toBe('ok')
})

test('a copy that cannot be made leaves nothing', async () => {
  const folder = temporaryFolder()
  await expect(openCrowd().store.care.backup(join(folder, 'none', 'copy.db'))).rejects.toThrow()
  // Of a store that is closed before its first page is copied.
  const { store } = openCrowd()
  const cut = store.care.backup(join(folder, 'copy.db'))
  store.close()
  await expect(cut).rejects.toThrow()
  expect(readdirSync(folder)).toEqual([])
})
