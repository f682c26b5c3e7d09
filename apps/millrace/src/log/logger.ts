/** The daemon's log: one object a line, or lines for people. It never contains tokens or secrets. */
import type { Logger } from '@millrace/core'
import { pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { ConfigError } from '../config/errors.ts'
import { escaped, visible, visibleLines } from '../visible.ts'

export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `'auto'` is `'pretty'` on a terminal, and `'json'` otherwise. */
  readonly format: 'auto' | 'json' | 'pretty'
  /** Paths to redact in addition to tokens and secrets. */
  readonly redact: readonly string[]
}

const SECRET = ['authorization', 'Authorization', 'token', 'secret', 'secrets', 'password', 'cookie', 'Cookie', 'set-cookie', 'Set-Cookie']
/** Path prefixes for the depths at which secrets are redacted. */
const DEPTHS = ['', '*.', '*.*.', '*.*.*.']

const SECRET_PATHS = SECRET.flatMap((name) =>
  DEPTHS.map((depth) => (name.includes('-') ? `${depth.slice(0, -1)}["${name}"]` : `${depth}${name}`)),
)

/**
 * Creates a logger that writes each line before the call returns, so that lines logged before a crash are not lost.
 *
 * @throws ConfigError for an invalid path
 */
export function createLogger({ level, format, redact }: LogOptions, out: NodeJS.WriteStream): Logger {
  const forPeople = format === 'pretty' || (format === 'auto' && out.isTTY)
  const prettify = forPeople ? prettyFactory({ colorize: out.isTTY && !process.env['NO_COLOR'], ignore: 'pid,hostname' }) : undefined
  const stream = {
    write: (line: string) =>
      void out.write(prettify === undefined ? `${escaped(line.trimEnd())}\n` : visibleLines(prettify(unquoted(line)))),
  }
  const logger = pino({ level, redact: { paths: pathsOf(redact), censor: '[redacted]' }, timestamp: pino.stdTimeFunctions.isoTime }, stream)
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  }
}

/** Parses a log line, and escapes the keys and values that the formatter prints without quotes and does not escape. */
function unquoted(line: string): Record<string, unknown> {
  const entries = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>)
  return Object.fromEntries(
    entries.map(([key, value]) => [visible(key), UNQUOTED.has(key) && typeof value === 'string' ? visible(value) : value]),
  )
}

const UNQUOTED: ReadonlySet<string> = new Set(['msg', 'name'])

function pathsOf(redact: readonly string[]): string[] {
  for (const path of redact) {
    try {
      pino({ redact: [path] }, { write: () => {} })
    } catch (cause) {
      throw new ConfigError([`'log.redact' must be paths such as job.data.email or *.email, got ${JSON.stringify(path)}`], { cause })
    }
  }
  return [...SECRET_PATHS, ...redact]
}
