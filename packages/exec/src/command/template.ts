/** Arguments of a command, with fields of the job's data in them. Data only ever becomes a part of one argument. */
import { describe, OptionRangeError, OptionTypeError } from '@millrace/core'
import { badArgs } from '../errors.ts'
import { ARGUMENT_BYTES } from './bounds.ts'

/** A string with `{{field}}` in it, or a literal that is used as it is. */
export type ArgumentTemplate = string | { readonly literal: string }

/** The parts of one argument: strings and names of fields alternate, beginning and ending with a string. */
interface Parts {
  readonly texts: readonly string[]
  readonly fields: readonly string[]
  /** True if a literal `--` comes before: then no argument is taken for an option. */
  readonly afterOptions: boolean
}

export type Template = readonly Parts[]

const FIELD = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/
const ARGUMENTS_MAX = 1_000

/** @throws OptionTypeError, OptionRangeError */
export function parseTemplate(option: string, value: unknown): Template {
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of arguments, got ${describe(value)}`)
  if (value.length > ARGUMENTS_MAX) {
    const message = `${option} must have at most ${ARGUMENTS_MAX} arguments, got ${value.length}: pass the rest by stdin`
    throw new OptionRangeError(option, ARGUMENTS_MAX, message)
  }
  let afterOptions = false
  return value.map((argument, index) => {
    const parts = parseArgument(`${option}[${index}]`, argument, afterOptions)
    if (parts.fields.length === 0 && parts.texts[0] === '--') afterOptions = true
    return parts
  })
}

function parseArgument(option: string, value: unknown, afterOptions: boolean): Parts {
  const literal = typeof value === 'object' && value !== null && Object.keys(value).join() === 'literal'
  const text: unknown = literal ? (value as { literal: unknown }).literal : value
  if (typeof text !== 'string') {
    throw new OptionTypeError(
      option,
      `${option} must be a string such as '--size={{size}}', or { literal: 'as it is' }, got ${describe(value)}`,
    )
  }
  if (text.includes('\0')) throw new OptionTypeError(option, `${option} has a NUL character, which no argument can have`)
  if (Buffer.byteLength(text) > ARGUMENT_BYTES) {
    throw new OptionRangeError(option, ARGUMENT_BYTES, `${option} must have at most ${ARGUMENT_BYTES} bytes: pass it in a file`)
  }
  if (literal) return { texts: [text], fields: [], afterOptions }
  // Splitting by a pattern with one group puts strings at even places and names at odd ones.
  const pieces = text.split(new RegExp(FIELD, 'g'))
  const texts = pieces.filter((_, place) => place % 2 === 0)
  const stray = texts.find((piece) => /\{\{|\}\}/.test(piece))
  if (stray !== undefined) {
    throw new OptionTypeError(
      option,
      `${option} has braces that are no field, in ${describe(stray)}: a field is {{name}}, of letters, digits and _; for the braces themselves say { literal: ${describe(text)} }`,
    )
  }
  return { texts, fields: pieces.filter((_, place) => place % 2 === 1), afterOptions }
}

/** @throws NonRetryableError whose cause is a BadArgsError */
export function fillTemplate(template: Template, data: unknown): string[] {
  return template.map(({ texts, fields, afterOptions }) => {
    const [first = '', ...rest] = texts
    const filled = rest.reduce((text, piece, index) => text + fieldOf(data, fields[index] as string) + piece, first)
    const [field] = fields
    if (field === undefined) return filled
    // An argument that begins with the template's own string is trusted. One that begins with data must not become an option.
    if (first === '' && filled.startsWith('-') && !afterOptions) {
      throw badArgs(`the field '${field}' begins with '-' and would be taken for an option: put a literal '--' before it in args`, field)
    }
    if (Buffer.byteLength(filled) > ARGUMENT_BYTES) {
      throw badArgs(
        `the argument with the field '${field}' has more than ${ARGUMENT_BYTES} bytes: hand it over by stdin, or in a file`,
        field,
      )
    }
    return filled
  })
}

function fieldOf(data: unknown, field: string): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || data instanceof Uint8Array) {
    throw badArgs(`the command takes the field '${field}', and the job's data is no object but ${describe(data)}`, field)
  }
  if (!Object.hasOwn(data, field)) throw badArgs(`the field '${field}' is missing in the job's data`, field)
  const value: unknown = (data as Record<string, unknown>)[field]
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw badArgs(`the field '${field}' must be a string, a number or a boolean, got ${describe(value)}`, field)
  }
  return plainText(field, value)
}

/** Returns a value exactly as the command gets it, to the byte. */
export function plainText(field: string, value: string | number | boolean): string {
  const text = String(value)
  if (text.includes('\0')) throw badArgs(`the field '${field}' has a NUL character: hand it over by stdin`, field)
  if (!text.isWellFormed()) throw badArgs(`the field '${field}' is no well-formed Unicode: it has half of a surrogate pair`, field)
  return text
}
