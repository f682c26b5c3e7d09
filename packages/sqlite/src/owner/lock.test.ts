import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AlreadyOpenError } from '@millrace/core'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../open-store.ts'
import { openTestStore, storeOptions, temporaryFolder } from '../testing/files.ts'
import { readOwnerNote } from './note.ts'
import { probeOwner } from './probe.ts'

const OWNER = new URL('../testing/owner-process.ts', import.meta.url)

/** Another process that has the file open, and says so. */
async function ownerProcess(file: string) {
  const child = spawn(process.execPath, [OWNER.pathname, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(child.stdout, 'data')
  return child
}

test('a second engine in the same process is shut out, and told by whom', () => {
  const store = openTestStore({ host: 'box', pid: 4_711 })
  let error: unknown
  try {
    openStore(storeOptions(store.file))
  } catch (caught) {
    error = caught
  }
  expect(error).toBeInstanceOf(AlreadyOpenError)
  expect(error).toMatchObject({ pid: 4_711, host: 'box', retryable: true })
  expect(String(error)).toContain('process 4711 on box')
  // The refused one has taken nothing away.
  expect(() => openStore(storeOptions(store.file))).toThrow(AlreadyOpenError)
  expect(store.load().node).toBe(store.node)
})

test('a second process is shut out until the first is killed', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const child = await ownerProcess(file)
  expect(() => openStore(storeOptions(file))).toThrow(AlreadyOpenError)
  expect(probeOwner(file)).toMatchObject({ pid: child.pid, epoch: 1 })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const store = openTestStore({ file })
  expect(store.epoch).toBe(2)
})

test('closing lets the next one in, with the next epoch', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  for (const epoch of [1, 2, 3]) {
    const store = openStore(storeOptions(file))
    expect(store.epoch).toBe(epoch)
    expect(readOwnerNote(file)).toEqual({ pid: process.pid, host: 'test-host', epoch, startedAt: 1_700_000_000_000 })
    store.close()
    expect(readOwnerNote(file)).toBeUndefined()
  }
})

test('a failed opening lets go', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  openStore(storeOptions(file)).close()
  const broken = storeOptions(file, {
    random: () => {
      throw new Error('no chance')
    },
  })
  expect(() => openStore(broken)).toThrow('no chance')
  expect(probeOwner(file)).toBeUndefined()
  openStore(storeOptions(file)).close()
})

test('a note that cannot be read is not needed', () => {
  const store = openTestStore()
  writeFileSync(`${store.file}-owner.json`, 'rubbish')
  expect(() => openStore(storeOptions(store.file))).toThrow(/already open in another engine/)
  expect(probeOwner(store.file)).toBe('unknown')
})

test('probing creates nothing, and does not disturb the owner', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  expect(probeOwner(file)).toBeUndefined()
  expect(existsSync(`${file}-owner`)).toBe(false)
  const store = openTestStore({ file })
  expect(probeOwner(file)).toMatchObject({ epoch: 1 })
  expect(() => openStore(storeOptions(file))).toThrow(AlreadyOpenError)
  store.close()
  expect(probeOwner(file)).toBeUndefined()
})
