/** The log of what no caller asked for: a listener that threw, a worker that cannot attach. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

/** `console` is one. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** The option `logger`: undefined for the default, which writes warnings and errors to stderr; false or null for none. */
export type LoggerOption = Logger | false | null

/** Undefined: the default; null: none. @throws OptionTypeError */
export function quietableLogger(option: string, value: unknown): Logger | null | undefined {
  if (value === undefined) return undefined
  return value === false || value === null ? null : loggerOption(option, value)
}

export function loggerOption(option: string, value: unknown): Logger {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    if (typeof (value as Logger | null)?.[level] !== 'function') {
      throw new OptionTypeError(
        option,
        `${option} must have the functions debug, info, warn and error (message, fields), as console has; got ${describe(value)} without ${level}`,
      )
    }
  }
  return value as Logger
}
