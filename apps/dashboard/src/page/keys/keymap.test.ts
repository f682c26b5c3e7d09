import { describe, expect, test } from 'vitest'
import { type Binding, nameOf, type Pressed, press } from './keymap.ts'

const binding = (keys: string): Binding => ({ keys, label: keys, group: 'page', run() {} })
const BINDINGS = ['g o', 'g j', 'o', '?', '/', 'r', 'shift+x', 'mod+k', 'Escape'].map(binding)
const key = (name: string, more: Partial<Pressed> = {}): Pressed => ({
  ...{ key: name, mod: false, shift: false, alt: false, typing: false, at: 0 },
  ...more,
})
const pressed = (...keys: readonly Pressed[]) => {
  let begun: ReturnType<typeof press>['begun']
  let found: Binding | undefined
  for (const each of keys) ({ binding: found, begun } = press(BINDINGS, each, begun))
  return found?.keys
}

test.each([
  ['a key', [key('r')], 'r'],
  ['two keys', [key('g'), key('j')], 'g j'],
  ['the second key alone', [key('o')], 'o'],
  ['two keys, too slowly', [key('g'), key('o', { at: 1_501 })], 'o'],
  ['another key in between', [key('g'), key('x'), key('o')], 'o'],
  ['g twice', [key('g'), key('g'), key('j')], 'g j'],
  ['a sign that needs Shift', [key('?', { shift: true })], '?'],
  ['a letter with Shift', [key('X', { shift: true })], 'shift+x'],
  ['a letter by caps lock', [key('R')], 'r'],
  ['⌘K or Ctrl K', [key('k', { mod: true })], 'mod+k'],
  ['⌘R is the browser’s', [key('r', { mod: true })], undefined],
  ['Alt is the browser’s', [key('r', { alt: true })], undefined],
] as const)('%s', (_what, keys, expected) => {
  expect(pressed(...keys)).toBe(expected)
})

describe('in a field', () => {
  test.each([
    [key('r', { typing: true }), undefined],
    [key('/', { typing: true }), undefined],
    [key('k', { typing: true, mod: true }), 'mod+k'],
    [key('Escape', { typing: true }), 'Escape'],
  ])('%j', (each, expected) => {
    expect(pressed(each)).toBe(expected)
  })
})

test('what a screen binds goes before what the frame binds', () => {
  const [frame, screen] = [binding('r'), binding('r')]
  expect(press([frame, screen], key('r'), undefined).binding).toBe(screen)
})

test('names of keys', () => {
  expect(nameOf({ key: 'Enter', mod: false, shift: true })).toBe('shift+Enter')
  expect(nameOf({ key: ' ', mod: false, shift: false })).toBe(' ')
})
