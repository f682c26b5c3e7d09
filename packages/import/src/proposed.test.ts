import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { proposed } from './proposed.ts'

const NAMES = [
  'mail',
  'a.b:c/d',
  '$(touch x)',
  '`id`',
  "it's",
  '"',
  '\\',
  'a b',
  'a;b',
  'a\nb',
  '*',
  '~',
  '#',
  '!x',
  'ü',
  '',
  '-rf',
  '--',
  '<task>',
  "'$(x)'",
  '&',
  'a=b',
]

// A shell is the only judge of what a shell makes of a word. It is started once.
test('a shell gives a command the very words that were proposed, whatever names are in it', () => {
  const lines = NAMES.map((name) => proposed(['queues', 'set', '--rate-limit', `${name}/1ms`], name))
  const script = `millrace() { for word; do printf '%s\\0' "$word"; done; printf '\\1'; }\n${lines.join('\n')}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
    .split('\u0001')
    .slice(0, -1)
    .map((each) => each.split('\0').slice(0, -1))
  const end = (name: string) => (name.startsWith('-') ? ['--'] : [])
  expect(words).toEqual(NAMES.map((name) => ['queues', 'set', '--rate-limit', `${name}/1ms`, ...end(name), name]))
})

test('a name of plain characters stays readable', () => {
  expect(proposed(['queues', 'pause'], 'mail:high-1')).toBe('millrace queues pause mail:high-1')
  expect(proposed(['schedules', 'set', '--cron', '<pattern>'], 'night', '<task>')).toBe(
    "millrace schedules set --cron '<pattern>' night '<task>'",
  )
})
