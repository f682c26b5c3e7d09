import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import type { RateMs } from './live/pace.ts'
import { createSettings } from './settings.ts'

function storeOf(values: Record<string, string>) {
  return {
    getItem: (key: string) => values[key] ?? null,
    setItem: (key: string, value: string) => {
      values[key] = value
    },
  }
}

test('preferences are read, and kept when they change', () => {
  const values: Record<string, string> = { 'millrace.theme': 'dark', 'millrace.rate': '15000' }
  const rate = signal<RateMs>(2_000)
  const { theme, zone } = createSettings(() => storeOf(values), rate)
  expect([theme.value, zone.value, rate.value]).toEqual(['dark', 'local', 15_000])
  zone.value = 'utc'
  rate.value = 0
  expect(values).toMatchObject({ 'millrace.theme': 'dark', 'millrace.zone': 'utc', 'millrace.rate': '0' })
})

test('values of somebody else are left aside', () => {
  const { theme } = createSettings(() => storeOf({ 'millrace.theme': '<b>' }), signal<RateMs>(2_000))
  expect(theme.value).toBe('system')
})

test('a browser that keeps nothing is no error', () => {
  const refuse = () => {
    throw new Error('SecurityError')
  }
  const { theme } = createSettings(refuse, signal<RateMs>(2_000))
  theme.value = 'light'
  expect(theme.value).toBe('light')
})
