/**
 * Recognizes errors wherever they were made: in another realm (a vm, jest), in another thread, or by another copy of this package.
 * `instanceof` knows only those of its own.
 */
import * as ERRORS from './errors.ts'

const KINDS = { ...ERRORS, AggregateError, RangeError, SyntaxError, TypeError }

type Kinds = typeof KINDS
/** The names of the public errors, and of those of the language. */
export type ErrorKind = {
  [Name in keyof Kinds]: Kinds[Name] extends abstract new (...args: never[]) => Error ? Name : never
}[keyof Kinds]

const ERROR_TAGS: ReadonlySet<string> = new Set(['[object Error]', '[object DOMException]'])

/** True for an error of any realm. It never throws, whatever was thrown. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || (typeof value === 'object' && ERROR_TAGS.has(Object.prototype.toString.call(value)))
  } catch {
    // The tag is a getter that throws, or the object is a revoked proxy.
    return false
  }
}

/**
 * True for an error of this class, or of one that extends it. One that was made elsewhere must have the name, and the code if the class has
 * one: other libraries have a `ValidationError`, too. False for an error that cannot be read.
 */
export function isErrorOf<Kind extends ErrorKind>(value: unknown, kind: Kind): value is InstanceType<Kinds[Kind]> {
  const known: { readonly code?: string } & Kinds[Kind] = KINDS[kind]
  if (!isError(value)) return false
  if (value instanceof known) return true
  try {
    if (known.code !== undefined && (value as { readonly code?: unknown }).code !== known.code) return false
    return value.name === kind || classNames(value).includes(kind)
  } catch {
    return false
  }
}

function classNames(error: Error): string[] {
  const names: string[] = []
  for (let each = Object.getPrototypeOf(error); each !== null; each = Object.getPrototypeOf(each)) names.push(each.constructor?.name)
  return names
}
