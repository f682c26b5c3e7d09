/** Times of an engine's statistics, which are milliseconds there: `--json` prints every time as an ISO string. */

/** Returns a copy in which each field whose name ends in `At` is a Date. Not for values of users, whose fields may have any name. */
export function withTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTimes)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === 'number' && /[a-z]At$/.test(name) ? new Date(field) : withTimes(field),
    ]),
  )
}
