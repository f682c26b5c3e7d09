/** JSON that comes as text, checked before it is parsed: a parser changes numbers in silence, and takes long over deep nesting. */
import { OptionRangeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

/** Only such a text can have a number that changes: 16 digits in a row, or an exponent of three. */
const SUSPECT = /\d{16}|[eE]\+?\d{3}/

const [QUOTE, BACKSLASH, ZERO, NINE] = [0x22, 0x5c, 0x30, 0x39]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const NUMBER_CHARACTERS = new Set([...'0123456789.eE+-'].map((character) => character.charCodeAt(0)))
/** The length up to which a message shows a number. */
const SHOWN = 40

/**
 * Refuses numbers that JSON.parse would change into another value (1e400, integers beyond 2^53 that are not exact) and more than 1,000
 * levels of nesting. Decimals are rounded to doubles, as everywhere. A text that is no JSON is left for the parser to refuse.
 *
 * @throws OptionRangeError, naming `option` and the number
 */
export function checkJsonText(option: string, text: string): void {
  check(option, text, LIMITS.jsonDepth)
}

/**
 * Refuses those numbers alone, in JSON of others that is stored as it is and parsed by whoever reads it.
 *
 * @throws OptionRangeError, naming `option` and the number
 */
export function checkJsonNumbers(option: string, text: string): void {
  check(option, text, Number.POSITIVE_INFINITY)
}

function check(option: string, text: string, levels: number): void {
  const suspect = SUSPECT.test(text)
  // A level takes a character at least.
  if (!suspect && text.length <= levels) return
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > levels) throw tooDeep(option)
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--
    else if (suspect && code >= ZERO && code <= NINE) at = endOfNumber(option, text, at)
  }
}

/** The place of its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    at += code === BACKSLASH ? 2 : 1
  }
  return at
}

/** The place of its last character. */
function endOfNumber(option: string, text: string, start: number): number {
  let end = start + 1
  while (NUMBER_CHARACTERS.has(text.charCodeAt(end))) end++
  const written = text.slice(start, end)
  const value = Number(written)
  if (value === Number.POSITIVE_INFINITY) {
    const message = `${option} has the number ${shown(written)}, and the largest that can be stored is ${Number.MAX_VALUE}: send it as a string`
    throw new OptionRangeError(option, Number.MAX_VALUE, message)
  }
  if (value > Number.MAX_SAFE_INTEGER && /^\d+$/.test(written) && !isKept(written, value)) {
    const message = `${option} has the integer ${shown(written)}, which would be stored as ${value}: send integers beyond ${Number.MAX_SAFE_INTEGER} as strings`
    throw new OptionRangeError(option, Number.MAX_SAFE_INTEGER, message)
  }
  return end - 1
}

/** JSON.stringify writes a large double with the fewest digits that tell it apart, and zeros behind them: that is exact enough. */
function isKept(written: string, value: number): boolean {
  return String(value) === written || BigInt(value) === BigInt(written)
}

function shown(written: string): string {
  return written.length <= SHOWN ? written : `${written.slice(0, SHOWN)}... (${written.length} characters)`
}

function tooDeep(option: string): OptionRangeError {
  return new OptionRangeError(option, LIMITS.jsonDepth, `${option} is nested more than ${LIMITS.jsonDepth} levels deep: send it flatter`)
}
