/** The rows of tokens and of the audit. */
import type { AuditAnswer, TokenListAnswer } from '@millrace/http'

export type Token = TokenListAnswer['tokens'][number]
type Entry = AuditAnswer['entries'][number]

export interface AuditRow {
  /** Tells entries of the same millisecond apart. */
  readonly id: string
  readonly at: string
  readonly who: string
  readonly operation: string
  readonly outcome: Entry['outcome']
  /** The status over HTTP, or the code of a call by socket. */
  readonly code: string | undefined
  readonly target: string
}

/** Returns tokens in use before those that were revoked, the newest first within each. */
export function tokenRows(tokens: readonly Token[]): readonly Token[] {
  const newest = tokens.toReversed()
  const isRevoked = ({ revokedAt }: Token) => revokedAt !== undefined
  return [...newest.filter((token) => !isRevoked(token)), ...newest.filter(isRevoked)]
}

/** Returns what the workers of a token may serve; undefined for everything. */
export function boundsOf({ names, queues }: Token): string | undefined {
  const parts = [...(queues ?? []).map((queue) => `queue:${queue}`), ...(names ?? []).map((name) => `name:${name}`)]
  return parts.length === 0 ? undefined : parts.join(' ')
}

export function auditRows(entries: readonly Entry[]): readonly AuditRow[] {
  return entries.map(({ at, who, operation, outcome, status, code, target }, place) => ({
    id: `${at} ${entries.length - place}`,
    at,
    who,
    operation,
    outcome,
    code: code ?? status?.toString(),
    target: Object.entries(target)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', '),
  }))
}
