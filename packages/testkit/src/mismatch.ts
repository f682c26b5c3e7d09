/** Describes in words where a value differs from what was expected. */
import { inspect, isDeepStrictEqual } from 'node:util'

/** `expect.any(Number)` and the like, of vitest and jest. */
interface AsymmetricMatcher {
  asymmetricMatch(value: unknown): boolean
}

/**
 * Returns one line for each place; none if all is as expected. Objects may have more than is expected of them, arrays may not; a
 * value with `asymmetricMatch` decides for itself.
 */
export function mismatches(expected: unknown, actual: unknown, path: string): readonly string[] {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? [] : [differs(path, expected, actual)]
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [differs(path, expected, actual)]
    if (actual.length !== expected.length) return [`${differs(path, expected, actual)} (${actual.length} items, not ${expected.length})`]
    return expected.flatMap((item, index) => mismatches(item, actual[index], `${path}[${index}]`))
  }
  if (isPlain(expected)) {
    if (!isPlain(actual)) return [differs(path, expected, actual)]
    return Object.entries(expected).flatMap(([name, value]) => mismatches(value, actual[name], path === '' ? name : `${path}.${name}`))
  }
  return isDeepStrictEqual(expected, actual) ? [] : [differs(path, expected, actual)]
}

export function shown(value: unknown): string {
  return inspect(value, { depth: 6, compact: 20, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200, maxArrayLength: 20 })
}

function differs(path: string, expected: unknown, actual: unknown): string {
  return `${path}: expected ${shown(expected)}, was ${shown(actual)}`
}

function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value && typeof value.asymmetricMatch === 'function'
}

/** True for plain objects of any realm: jest runs tests in one of its own. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]' && !(value instanceof Uint8Array)
}
