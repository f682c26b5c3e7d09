/** Numbers, rates and sizes as people read them. The page is in English, so numbers are too. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const TENTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const MINUS = '\u2212'

export function count(value: number): string {
  return WHOLE.format(value).replace('-', MINUS)
}

/** A count on an axis, where room is short: thousands from 10,000 on, as "30k". */
export function short(value: number): string {
  return value >= 10_000 ? `${rate(value / 1_000)}k` : count(value)
}

/** A change, always with its sign: +640, −2,010; 0 has none. */
export function change(value: number): string {
  return value > 0 ? `+${count(value)}` : count(value)
}

/** A rate: whole from 10 on, with a tenth below. */
export function rate(value: number): string {
  return Math.abs(value) >= 10 ? count(value) : TENTHS.format(value)
}

/** "1 job", "3 jobs". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** "All 3 slots are", "The slot is". */
export function allOf(value: number, one: string): string {
  return value === 1 ? `The ${one} is` : `All ${counted(value, one)} are`
}

/** "2 of 3 slots are", "1 of 3 slots is". */
export function partOf(value: number, all: number, one: string): string {
  return `${count(value)} of ${counted(all, one)} ${value === 1 ? 'is' : 'are'}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3))
  return `${power === 0 ? count(value) : rate(value / 1_000 ** power)} ${UNITS[power]}`
}
