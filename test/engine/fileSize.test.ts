// The file's size follows what is kept, and not what has ever passed through it.
import { statSync } from 'node:fs'
import { DEFAULT_RETENTION, LIMITS } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'
import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { type FaultyStore, faultyStore } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

const MIB = 2 ** 20
const PAGE_BYTES = 4_096
const KEPT_BYTES = LIMITS.freePagesKept * PAGE_BYTES
const bulky = defineJob<{ text: string }>({ name: 'bulky' })
const data = { text: 'x'.repeat(3_000) }

/** Keeps ten finished jobs. */
function start() {
  const file = temporaryFile()
  let store: FaultyStore | undefined
  const slices: number[] = []
  const t = createTestEngine({
    file,
    settings: { retention: { ...DEFAULT_RETENTION, completed: { ageMs: 86_400_000, count: 10 }, journal: { ageMs: 1_000, bytes: MIB } } },
    wrapStore: (opened) => {
      const shrink = (pages: number) => {
        slices.push(pages)
        opened.care.shrink(pages)
      }
      store = faultyStore({ ...opened, care: { ...opened.care, shrink } })
      return store
    },
  })
  onTestFinished(() => t[Symbol.asyncDispose]())
  /** So many jobs come, wait, run and are pruned. */
  const generation = async (count: number) => {
    const handles = await t.engine.enqueueMany(Array.from({ length: count }, () => ({ job: bulky, data })))
    const worker = t.engine.work([bulky.handler(() => {})], { concurrency: 500 })
    await handles.at(-1)?.result()
    await worker.stop()
    await t.advance('5s')
  }
  return { ...t, slices, store: store as FaultyStore, generation, sizeOf: () => statSync(file).size }
}

test('over many generations of jobs the file grows no further than one of them takes', async () => {
  const { engine, store, generation, sizeOf } = start()
  const kept = await engine.enqueue('elsewhere', data)
  const sizes: number[] = []
  for (let round = 0; round < 12; round++) {
    await generation(1_000)
    store.care.foldWal()
    sizes.push(sizeOf())
  }
  // 1,000 jobs of 3 KB, a page each, and what surrounds them.
  expect(Math.max(...sizes)).toBeLessThan(2 * 1_000 * PAGE_BYTES)
  expect((await engine.stats()).states).toMatchObject({ completed: 10, waiting: 1 })
  expect((await engine.get(kept.id))?.data).toEqual(data)
})

test('what a backlog has taken is given back once the engine has nothing else to do, in slices', async () => {
  const { engine, store, slices, generation, advance, sizeOf } = start()
  const kept = await engine.enqueue('elsewhere', data)
  await engine.enqueueMany(Array.from({ length: 5_000 }, () => ({ job: bulky, data })))
  await generation(5_000)
  store.care.foldWal()
  expect(sizeOf()).toBeGreaterThan(10_000 * PAGE_BYTES)
  await advance('2m')
  expect(slices.length).toBeGreaterThan(50)
  expect(Math.max(...slices)).toBe(LIMITS.slicePages)
  // With nobody to fold the log in: the last slice does.
  expect(sizeOf()).toBeLessThan(KEPT_BYTES + MIB)
  const { free, all } = store.care.freePages()
  expect(free).toBeLessThanOrEqual(LIMITS.freePagesKept)
  expect(all).toBeLessThan(10_000)
  expect((await engine.get(kept.id))?.data).toEqual(data)
  // What is kept free is used again: the file is not given back and taken anew all the time.
  slices.length = 0
  await generation(1_000)
  await advance('2m')
  expect(slices).toEqual([])
})

test('a slice that fails is tried again later, and takes no turn with it', async () => {
  const { inThread, store, slices, generation, advance, engine } = start()
  await engine.enqueueMany(Array.from({ length: 5_000 }, () => ({ job: bulky, data })))
  await generation(4_000)
  const { reloads } = inThread.actor.meter
  const failing = slices.length
  store.faults.failRead('shrink', 3)
  await advance('2m')
  expect(inThread.actor.meter.reloads).toBe(reloads)
  expect(slices.length).toBeGreaterThan(failing)
  expect(store.care.freePages().free).toBeLessThanOrEqual(LIMITS.freePagesKept)
})

test('a slice whose commit fails has the tables loaded anew; jobs go on', async () => {
  const { inThread, store, generation, advance, engine } = start()
  await engine.enqueueMany(Array.from({ length: 5_000 }, () => ({ job: bulky, data })))
  await generation(4_000)
  const { reloads } = inThread.actor.meter
  const { shrink } = store.care
  let failures = 0
  Object.assign(store.care, {
    shrink: (pages: number) => {
      if (failures++ === 0) throw new StoreFailure('commit', 'io', 'SQLITE_IOERR_FSYNC: disk I/O error')
      shrink(pages)
    },
  })
  await advance('2m')
  expect(failures).toBeGreaterThan(1)
  expect(inThread.actor.meter.reloads).toBe(reloads + 1)
  await generation(100)
  expect((await engine.stats()).states.waiting).toBe(0)
})
