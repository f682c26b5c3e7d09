/** Prints the log messages of the engine on stderr, for commands that run for long. */
import type { Logger } from '@millrace/core'
import { jsonText } from '../../visible.ts'
import { now } from '../clock.ts'
import { line } from './line.ts'
import type { Output } from './output.ts'
import { plain } from './plain.ts'
import type { Style } from './style.ts'

export function loggerOn(out: Output): Logger {
  const tell = (level: string, style: Style) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    const at = new Date(now())
    if (out.json) return out.note(jsonText(plain({ at, level, message, ...fields })))
    const rest = fields === undefined ? '' : ` ${JSON.stringify(plain(fields))}`
    out.note(line`${at.toISOString()} ${out.paint(style, level)} ${message}${rest}`)
  }
  return { debug: () => {}, info: tell('info', 'dim'), warn: tell('warn', 'yellow'), error: tell('error', 'red') }
}
