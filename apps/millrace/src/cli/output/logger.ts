/** What the engine tells of by itself, on stderr: for commands that run for long. */
import type { Logger } from '@millrace/core'
import { now } from '../clock.ts'
import type { Output } from './output.ts'
import { plain } from './plain.ts'
import type { Style } from './style.ts'
import { oneLine } from './table.ts'

export function loggerOn(out: Output): Logger {
  const tell = (level: string, style: Style) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    const at = new Date(now())
    if (out.json) return out.note(JSON.stringify(plain({ at, level, message, ...fields })))
    const rest = fields === undefined ? '' : ` ${JSON.stringify(plain(fields))}`
    out.note(oneLine(`${at.toISOString()} ${out.paint(style, level)} ${message}${rest}`))
  }
  return { debug: () => {}, info: tell('info', 'dim'), warn: tell('warn', 'yellow'), error: tell('error', 'red') }
}
