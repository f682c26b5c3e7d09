/** The user's preferences. The browser keeps them: they are not part of the address that people share. */
import { effect, type Signal, signal } from '@preact/signals'
import type { Zone } from './format/times.ts'
import { RATES_MS, type RateMs } from './live/pace.ts'

export const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
export const ZONES = ['local', 'utc'] as const satisfies readonly Zone[]

export interface Settings {
  readonly theme: Signal<Theme>
  readonly zone: Signal<Zone>
}

/** A browser may keep nothing, and says so by an error. */
type Store = () => Pick<Storage, 'getItem' | 'setItem'>

export function createSettings(store: Store, rateMs: Signal<RateMs>): Settings {
  const settings = { theme: signal<Theme>('system'), zone: signal<Zone>('local') }
  keep(store, 'theme', settings.theme, THEMES)
  keep(store, 'zone', settings.zone, ZONES)
  keep(store, 'rate', rateMs, RATES_MS)
  return settings
}

function keep<T extends string | number>(store: Store, name: string, value: Signal<T>, known: readonly T[]): void {
  const key = `millrace.${name}`
  value.value = known.find((each) => `${each}` === attempt(() => store().getItem(key))) ?? value.value
  effect(() => {
    const now = `${value.value}`
    attempt(() => store().setItem(key, now))
  })
}

function attempt<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
