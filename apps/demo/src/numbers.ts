/** Numbers as people read them. */

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** `1 file`, `2 files`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

const UNITS = ['kB', 'MB', 'GB', 'TB', 'PB']

export function bytes(value: number): string {
  if (value < 1_000) return counted(value, 'byte')
  let unit = 0
  let scaled = value / 1_000
  // From 999.5 on, three digits would round up to a thousand.
  for (; scaled >= 999.5 && unit < UNITS.length - 1; unit++) scaled /= 1_000
  return `${scaled >= 99.95 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[unit]}`
}

export function seconds(ms: number): string {
  return `${ms < 100_000 ? (ms / 1_000).toFixed(1) : count(ms / 1_000)} s`
}
