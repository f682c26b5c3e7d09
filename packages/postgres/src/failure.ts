/** Classifies the server's errors by their effect on the turn that met them. */
import { StoreFailure } from '@millrace/core/kernel'
import type { LineError } from './line/message.ts'

/** Raised by `take_turn` if the journal has a turn of another owner. */
export const OTHER_OWNER = 'MR001'
/** Raised by `expect_rows`. */
const OTHER_COUNT = 'MR002'
const UNIQUE_VIOLATION = '23505'

/** Codes, or their classes, that the statement or its values caused. */
const STATEMENT = /^(?:2[1-3]|42|P0|0A|54)/
/** Deadlock, serialization, lock timeout, statement timeout, too many connections. */
const BUSY: ReadonlySet<string> = new Set(['40P01', '40001', '55P03', '57014', '53300'])
const FULL: ReadonlySet<string> = new Set(['53100'])

/** Returns the failure for an error of a turn. Without a code the connection broke, and nobody knows what the server did last. */
export function failureOf({ code, constraint, message }: LineError): StoreFailure {
  if (code === undefined) return new StoreFailure('commit', 'io', message)
  if (isLost({ code, constraint })) return new StoreFailure('before', 'owner', `another engine has taken the schema over (${message})`)
  if (code === OTHER_COUNT) return new StoreFailure('broken', 'statement', message)
  const text = `${code}: ${message}`
  if (FULL.has(code)) return new StoreFailure('before', 'full', text)
  if (BUSY.has(code)) return new StoreFailure('before', 'busy', text)
  return STATEMENT.test(code) ? new StoreFailure('broken', 'statement', text) : new StoreFailure('before', 'io', text)
}

/** True if the error says that a turn has another owner. */
export function isLost({ code, constraint }: Pick<LineError, 'code' | 'constraint'>): boolean {
  return code === OTHER_OWNER || (code === UNIQUE_VIOLATION && constraint === 'journal_pkey')
}
