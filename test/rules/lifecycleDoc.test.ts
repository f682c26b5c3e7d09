/** What docs/lifecycle.md says is what the code does. */
import { readFileSync } from 'node:fs'
import { LIFECYCLE, STATES } from '@millrace/core'
import { expect, test } from 'vitest'

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
