/**
 * Judges stored JSON by JSON that it contains, as the operator `@>` of Postgres does: an object contains another one if it has all its
 * properties with values that contain theirs; an array another one if each of its items is contained in some item. Scalars are equal. The
 * whole of a stored array also contains a scalar that is one of its items.
 */

/** Returns a judge of stored JSON. What cannot be parsed contains nothing. */
export function jsonJudge(wantedText: string): (stored: string) => boolean {
  const wanted: unknown = JSON.parse(wantedText)
  return (stored) => {
    let value: unknown
    try {
      value = JSON.parse(stored)
    } catch {
      return false
    }
    return containsJson(value, wanted)
  }
}

export function containsJson(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(stored) && !isContainer(wanted)) return stored.includes(wanted)
  return includes(stored, wanted)
}

function includes(stored: unknown, wanted: unknown): boolean {
  if (!isContainer(wanted)) return stored === wanted
  if (Array.isArray(wanted)) return Array.isArray(stored) && includesItems(stored, wanted)
  if (!isContainer(stored) || Array.isArray(stored)) return false
  return Object.entries(wanted).every(([name, value]) => Object.hasOwn(stored, name) && includes(stored[name], value))
}

function includesItems(stored: readonly unknown[], wanted: readonly unknown[]): boolean {
  // A set keeps long arrays of scalars from being compared pair by pair.
  const scalars = new Set(stored)
  return wanted.every((item) => (isContainer(item) ? stored.some((each) => includes(each, item)) : scalars.has(item)))
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/**
 * Returns the longest string that stored JSON must have in it to contain the wanted JSON, unless it has a backslash; empty if there is
 * none. A store passes over other jobs without parsing their data. Values are preferred to names, which many jobs share.
 */
export function hintOf(wantedText: string): string {
  const values: string[] = []
  const names: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') values.push(value)
    if (!isContainer(value)) return
    if (!Array.isArray(value)) names.push(...Object.keys(value))
    for (const each of Object.values(value)) visit(each)
  }
  visit(JSON.parse(wantedText))
  return longestOf(values) || longestOf(names)
}

function longestOf(strings: readonly string[]): string {
  let longest = ''
  for (const each of strings.map((string) => JSON.stringify(string)))
    if (each.length > longest.length && !each.includes('\\')) longest = each
  return longest
}
