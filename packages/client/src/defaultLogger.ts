/** Where an engine without a `logger` says what its owner has to know: lines on stderr, for warnings and errors alone. */
import type { Logger } from '@millrace/core'

type Fields = Readonly<Record<string, unknown>>

export const stderrLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, fields) => write('warning', message, fields),
  error: (message, fields) => write('error', message, fields),
}

/** The logger in use: null stands for none, undefined for the default. */
export function loggerOrDefault(logger: Logger | null | undefined): Logger | undefined {
  return logger === undefined ? stderrLogger : (logger ?? undefined)
}

/** A stack is shown as it is, below its line. */
function write(level: string, message: string, { stack, ...fields }: Fields = {}): void {
  const shown = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
  const below = typeof stack === 'string' ? `\n${stack}` : ''
  process.stderr.write(`${visible(`millrace ${level}: ${message}${shown}${below}`)}\n`)
}

/** What an error says may come from anybody: a terminal is to obey none of it. */
function visible(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
