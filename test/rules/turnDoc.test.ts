// docs/internals.md shows which feature has a say in which step of the turn: what the file of each step takes from the features' folders.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const KERNEL = 'packages/core/src/kernel'
const STEPS = {
  gather: 'turn/gather.ts',
  propagate: 'flows/propagate.ts',
  decide: 'turn/decide.ts',
  'fire timers': 'turn/fireTimers.ts',
  dispatch: 'turn/dispatch.ts',
}
const FEATURES = ['jobs', 'sessions', 'queues', 'keys', 'flows', 'schedules']

/** The functions that a step takes from a feature, in the order of their names. */
function taken(file: string, feature: string): string {
  const text = readFileSync(join(ROOT, KERNEL, file), 'utf8')
  const own = file.split('/').slice(0, -1).join('/')
  const names = [...text.matchAll(/^import \{([^}]*)\} from '([^']+)'/gm)].flatMap(([, list = '', from = '']) => {
    const path = join('/', own, from).slice(1)
    return path.startsWith(`${feature}/`) ? list.split(',').map((name) => name.trim()) : []
  })
  // Constants and classes are what a step works with, not who has a say in it.
  const functions = names.filter((name) => /^[a-z]/.test(name) && !name.startsWith('type '))
  return functions
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(', ')
}

test('the table of features and steps is the code’s', () => {
  const rows = FEATURES.map((feature) => `| ${[feature, ...Object.values(STEPS).map((file) => taken(file, feature) || '–')].join(' | ')} |`)
  const table = [`| feature | ${Object.keys(STEPS).join(' | ')} |`, `|${'---|'.repeat(Object.keys(STEPS).length + 1)}`, ...rows].join('\n')
  const page = readFileSync(join(ROOT, 'docs/internals.md'), 'utf8')
  const [, shown] = page.split('<!-- table: turn -->\n')
  expect(shown?.split('\n<!-- end -->')[0]).toBe(table)
})
