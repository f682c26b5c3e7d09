/** What a page shows of an answer, against the answer: the same fields, of the same types. Values are those of the day it was written. */

/** Stands for the fields that a page leaves out. */
const MORE = '...'

/** Reads JSON in which three dots stand for further fields: `{ "a": 1, ... }`. */
export function readShown(text: string): unknown {
  return JSON.parse(text.replace(/([{,]\s*)\.\.\.(?=\s*\})/g, `$1"${MORE}":0`))
}

/** Returns what is shown and is not there, what is there and not shown, and what is of another type. */
export function differences(shown: unknown, real: unknown, at = '$'): readonly string[] {
  if (kindOf(shown) !== kindOf(real)) return [`${at}: the page shows ${kindOf(shown)}, and the answer has ${kindOf(real)}`]
  if (Array.isArray(shown)) {
    const all = real as readonly unknown[]
    if (shown.length > 0 && all.length === 0) return [`${at}: the page shows items, and the answer has none`]
    return shown.flatMap((each, index) => differences(each, all[index] ?? all[0], `${at}[${index}]`))
  }
  if (typeof shown !== 'object' || shown === null) return []
  const names = Object.hasOwn(shown, MORE) ? Object.keys(shown) : [...new Set([...Object.keys(shown), ...Object.keys(real as object)])]
  const of = (value: unknown, name: string) => (value as Readonly<Record<string, unknown>>)[name]
  return names.filter((name) => name !== MORE).flatMap((name) => differences(of(shown, name), of(real, name), `${at}.${name}`))
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}
