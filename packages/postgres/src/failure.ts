/** Classifies the server's errors by their effect on the turn that met them. */
import { StoreFailure } from '@millrace/core/kernel'
import type { BridgeError } from './bridge/message.ts'

/** Raised by `take_turn` if the journal has a turn of another owner. */
export const OTHER_OWNER = 'MR001'
/** Raised by `expect_rows`. */
const OTHER_COUNT = 'MR002'
const UNIQUE_VIOLATION = '23505'

/**
 * Reasons by the SQLSTATE or else by its class, the first two characters. Errors of all other classes come from the server: its memory, its
 * disk, its shutdown, the rights of the user.
 */
const REASONS: Readonly<Record<string, StoreFailure['reason']>> = {
  // Cardinality, constraints, functions of the schema, syntax and names: the statements and the tables do not agree.
  21: 'statement',
  23: 'statement',
  '0A': 'statement',
  42: 'statement',
  P0: 'statement',
  // Only values can cause these: a character or a number that the type does not have, a row or a nesting beyond the server's limits.
  22: 'unfit',
  54: 'large',
  // The user's rights can change while the engine runs.
  42501: 'io',
  // Deadlock, serialization, lock timeout, statement timeout, too many connections.
  '40P01': 'busy',
  40001: 'busy',
  '55P03': 'busy',
  57014: 'busy',
  53300: 'busy',
  53100: 'full',
}
const COMMANDS_FAULT: ReadonlySet<StoreFailure['reason']> = new Set(['statement', 'unfit', 'large'])

/** Returns the failure for an error of a turn. Without a code the connection broke, and nobody knows what the server did last. */
export function failureOf({ code, constraint, message }: BridgeError): StoreFailure {
  if (code === undefined) return new StoreFailure('commit', 'io', message)
  if (isLost({ code, constraint })) return new StoreFailure('before', 'owner', `another engine has taken the schema over (${message})`)
  if (code === OTHER_COUNT) return new StoreFailure('broken', 'statement', message)
  const text = `${code}: ${message}`
  const reason = REASONS[code] ?? REASONS[code.slice(0, 2)] ?? 'io'
  return new StoreFailure(COMMANDS_FAULT.has(reason) ? 'broken' : 'before', reason, text)
}

/** True if the error says that a turn has another owner. */
export function isLost({ code, constraint }: Pick<BridgeError, 'code' | 'constraint'>): boolean {
  return code === OTHER_OWNER || (code === UNIQUE_VIOLATION && constraint === 'journal_pkey')
}
