/**
 * Keeps what did not change: where a new answer equals the old one, the old object stays. Rows compare by identity, and most of a list
 * is drawn again only if it changed.
 */

/** Returns `next`, with each part that equals the same part of `old` replaced by it; `old` itself if all is equal. */
export function share<T>(old: unknown, next: T): T {
  if (Object.is(old, next)) return next
  if (Array.isArray(next)) return (Array.isArray(old) ? shareList(old, next) : next) as T
  if (isRecord(old) && isRecord(next)) return shareRecord(old, next) as T
  return next
}

/** Items with an `id` or a `name` are found by it, so that rows stay the same when others come before them. */
function shareList(old: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  const known = new Map(old.map((item) => [keyOf(item), item]))
  const shared = next.map((item, place) => share(keyOf(item) === undefined ? old[place] : known.get(keyOf(item)), item))
  return shared.length === old.length && shared.every((item, place) => Object.is(item, old[place])) ? old : shared
}

function shareRecord(old: Readonly<Record<string, unknown>>, next: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = Object.keys(next)
  const shared = Object.fromEntries(names.map((name) => [name, share(old[name], next[name])]))
  const same = names.length === Object.keys(old).length && names.every((name) => name in old && Object.is(shared[name], old[name]))
  return same ? old : shared
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyOf(item: unknown): unknown {
  return isRecord(item) ? (item['id'] ?? item['name']) : undefined
}
