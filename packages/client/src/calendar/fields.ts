/** Checks the fields of a cron expression, and writes ranges that pass their end (`22-4`, `FRI-MON`) as ranges that do not. */

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  /** The number of values after which a range begins again; undefined if it does not. */
  readonly cycle?: number
  /** Names of values, the first for `min`. */
  readonly names?: readonly string[]
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const SECOND: Field = { name: 'second', min: 0, max: 59, cycle: 60 }
const YEAR: Field = { name: 'year', min: 1, max: 9_999 }
const USUAL: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, cycle: 60 },
  { name: 'hour', min: 0, max: 23, cycle: 24 },
  { name: 'day', min: 1, max: 31, cycle: 31 },
  { name: 'month', min: 1, max: 12, cycle: 12, names: MONTHS },
  { name: 'weekday', min: 0, max: 7, cycle: 7, names: WEEKDAYS },
]
const FIELDS: Readonly<Record<number, readonly Field[]>> = { 5: USUAL, 6: [SECOND, ...USUAL], 7: [SECOND, ...USUAL, YEAR] }

/** @throws Error that says which field is wrong, with what was written */
export function unrolled(expression: string): string {
  const texts = expression.trim().split(/\s+/)
  const fields = FIELDS[texts.length]
  if (fields === undefined) {
    const known = '5 (minute hour day month weekday), 6 (with seconds in front) or 7 (with seconds in front and the year at the end)'
    throw new Error(`it must have ${known} fields, got ${texts.length}`)
  }
  return fields.map((field, index) => itemsOf(field, texts[index] as string)).join(' ')
}

function itemsOf(field: Field, text: string): string {
  return text
    .split(',')
    .map((item) => itemOf(field, item))
    .join()
}

function itemOf(field: Field, item: string): string {
  // What follows the value or the range: a step, the number of a weekday in its month, `L` or `W`.
  const [, range = '', rest = ''] = /^(.*?)((?:[#/].*|(?<=\d)[LW])?)$/i.exec(item) ?? []
  if (rest.startsWith('/') && !/^\/0*[1-9]\d*$/.test(rest))
    throw new Error(`the step of its ${field.name} '${item}' must be a whole number of at least 1, got ${rest.slice(1) || 'nothing'}`)
  const ends = range.split('-')
  if (ends.length > 1 && ends.includes('')) throw new Error(`its ${field.name} '${item}' is neither a value nor a range`)
  const [from, to] = ends.map((end) => numberOf(field, end))
  if (ends.length !== 2 || from === undefined || to === undefined || from <= to) return item
  return passing(field, from, to, item, rest)
}

/** Returns a value by its number or its name; undefined for anything else, which the parser checks. */
function numberOf({ name, min, max, names }: Field, text: string): number | undefined {
  const named = names?.indexOf(text.toUpperCase()) ?? -1
  if (named >= 0) return min + named
  if (!/^\d+$/.test(text)) return undefined
  const value = Number(text)
  if (value < min || value > max) throw new Error(`its ${name} must be between ${min} and ${max}, got ${text}`)
  return value
}

function passing({ name, min, cycle }: Field, from: number, to: number, item: string, rest: string): string {
  const step = rest === '' ? 1 : Number(/^\/(\d+)$/.exec(rest)?.[1] ?? 0)
  if (cycle === undefined) throw new Error(`its ${name} '${item}' ends before it begins`)
  if (step === 0) throw new Error(`its ${name} '${item}' ends before it begins: write two ranges`)
  const values: number[] = []
  for (let value = from; value <= to + cycle; value += step) values.push(((value - min) % cycle) + min)
  return values.join()
}
