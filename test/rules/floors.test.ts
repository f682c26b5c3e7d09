// The floors of the kernel: an import goes down or stays on its floor, `import type` too. A reader of one floor needs only those below it.
import { expect, test } from 'vitest'
import { SHIPPED, type Source, targetOf } from './sources.ts'

const KERNEL = 'packages/core/src/kernel/'

/** The folders, from the top down. An import may stay in its folder, or go to one that follows here. */
const FLOORS = ['turn', 'schedules', 'flows', 'sessions', 'steps', 'jobs', 'keys', 'queues', 'state', 'records']

/** The files that reach up, to what, and why. */
const UPWARD: Readonly<Record<string, { readonly to: string; readonly why: string }>> = {
  'jobs/hooks.ts': { to: 'flows/flowEnds.ts', why: 'the one list of hooks: the end of a job is news to its flow' },
}

const files = SHIPPED.filter(({ path }) => path.startsWith(KERNEL))
const pathIn = (path: string) => path.slice(KERNEL.length)
const floorOf = (path: string) => FLOORS.indexOf(path.split('/')[0] as string)

/** The imports of a file from the rest of the kernel. */
function within(source: Source): string[] {
  return source.imports
    .map(({ specifier }) => targetOf(source, specifier))
    .filter((target) => target.startsWith(KERNEL))
    .map(pathIn)
}

test('every file of the kernel is on a floor', () => {
  expect(files.length).toBeGreaterThan(100)
  const folders = new Set(files.map(({ path }) => pathIn(path).replace(/\/?[^/]+$/, '')))
  expect([...folders].toSorted()).toEqual(FLOORS.toSorted())
})

test('imports go down', () => {
  const up = files.flatMap((source) => {
    const path = pathIn(source.path)
    return within(source)
      .filter((target) => floorOf(target) < floorOf(path))
      .map((target) => `${path} → ${target}`)
  })
  expect(up).toEqual(Object.entries(UPWARD).map(([path, { to }]) => `${path} → ${to}`))
})

test('no file of the kernel takes functions from above as it runs: none keeps a list at its top level that another could fill', () => {
  const kept =
    /^(?:export )?(?:let |var |const \w+(?:: (?!Readonly|readonly)[^=\n]+)? = (?:\[\]|new (?:Map|Set|WeakMap)(?:<[^\n]*>)?\(\)))/m
  expect(files.filter(({ code }) => kept.test(code)).map(({ path }) => path)).toEqual([])
  expect(kept.test('export const hooks: Hook[] = []')).toBe(true)
  expect(kept.test('const NONE: readonly Job[] = []')).toBe(false)
})
