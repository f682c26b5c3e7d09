/** What docs/lifecycle.md says is what the code does. */
import { readFileSync } from 'node:fs'
import { LIFECYCLE, STATES } from '@millrace/core'
import { expect, test } from 'vitest'
import { SOURCES } from './sources.ts'

const text = readFileSync(new URL('../../docs/lifecycle.md', import.meta.url), 'utf8')
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] as string)),
  )

test('the table of states names each with its code', () => {
  const stated = text.split('\n').flatMap((line) => /^\| `(\w+)` \| (\d) \|/.exec(line)?.slice(1, 3).join(' ') ?? [])
  expect(stated).toEqual(STATES.map((state, code) => `${state} ${code}`))
})

test('the table of transitions is the lifecycle', () => {
  const documented = Object.fromEntries(
    rows
      .filter(([name]) => name?.[0] !== undefined && name[0] in LIFECYCLE)
      .map(([name, from, to]) => [name?.[0], { from: from ?? [], to: to ?? [] }]),
  )
  const actual = Object.fromEntries(
    Object.entries(LIFECYCLE).map(([name, { from, to }]) => [
      name,
      { from: from.map((state) => STATES[state]), to: to.map((state) => STATES[state]) },
    ]),
  )
  expect(documented).toEqual(actual)
})

/** Where the kernel names a transition as it moves a job, and the function around it. */
function movesIn({ text: source }: { readonly text: string }): (readonly [transition: string, by: string])[] {
  const [before = '', ...functions] = source.split(/^(?=(?:export )?function )/m)
  expect(before).not.toMatch(MOVE)
  return functions.flatMap((each) => {
    const [, by = ''] = /^(?:export )?function (\w+)/.exec(each) ?? []
    return [...each.matchAll(MOVE)].map(([, transition = '']) => [transition, by] as const)
  })
}

const MOVE = /\b(?:move|finish|again|fail|failUnstarted)\((?:turn, )?job, '(\w+)'/g

test('each transition is made by the function that has its name, and by no other; a new job is not moved', () => {
  const kernel = SOURCES.filter(({ path, testing }) => path.startsWith('packages/core/src/kernel/') && !testing)
  const moves = kernel.flatMap(movesIn).filter(([transition]) => transition in LIFECYCLE)
  const names = Object.keys(LIFECYCLE).filter((name) => name !== 'enqueue')
  expect(Object.fromEntries(moves)).toEqual(Object.fromEntries(names.map((name) => [name, name])))
  expect(moves).toHaveLength(names.length)
})
