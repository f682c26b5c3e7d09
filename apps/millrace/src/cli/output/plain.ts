/** Converts values to what `--json` prints: times as ISO strings, bytes as base64, and null for every field that has no value. */

export function plain(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  // JSON has no Infinity: null stands for "no limit".
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]))
}
