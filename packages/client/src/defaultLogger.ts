/** The logger of an engine without a `logger`: prints warnings and errors to stderr, and nothing else. */
import type { Logger } from '@millrace/core'

type Fields = Readonly<Record<string, unknown>>

export const stderrLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, fields) => write('warning', message, fields),
  error: (message, fields) => write('error', message, fields),
}

/** Returns the logger in use: none for null, the default for undefined. */
export function loggerOrDefault(logger: Logger | null | undefined): Logger | undefined {
  return logger === undefined ? stderrLogger : (logger ?? undefined)
}

/** Prints one line, and below it the stack as it is. */
function write(level: string, message: string, { stack, ...fields }: Fields = {}): void {
  const shown = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
  const below = typeof stack === 'string' ? `\n${stack}` : ''
  process.stderr.write(`${visible(`millrace ${level}: ${message}${shown}${below}`)}\n`)
}

/** Escapes control characters: anybody may have written the message of an error, and a terminal must not obey it. */
function visible(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
