/**
 * The key that a job holds against all others: its unique key, or the key of its trailing debounce,
 * under a name that no job can have.
 */
import type { Job, JobExtras, Shape } from './job.ts'
import type { NameAndKey } from './rows.ts'

export function placeOf(name: string, { by, key }: Shape): NameAndKey {
  return { name: `#${by}:${name}`, key }
}

/**
 * Returns the key that no other job may have while this one lives, or until its first start if it is
 * debounced or asked for that.
 */
export function exclusiveKey({
  lane,
  extras,
  run,
}: Pick<Job, 'extras' | 'run'> & { readonly lane: { readonly name: string } }): NameAndKey | undefined {
  if (extras === undefined) return undefined
  if (run > 0 && isUntilStart(extras)) return undefined
  const { uniqueKey, shape } = extras
  if (uniqueKey !== undefined) return { name: lane.name, key: uniqueKey }
  return shape?.by === 'trailing' ? placeOf(lane.name, shape) : undefined
}

export function isUntilStart({ untilStart, shape }: JobExtras): boolean {
  return untilStart === true || shape?.by === 'trailing'
}
