/** Audit entries of calls that change more than they add. */
import type { Audited } from '@millrace/core'

/** A call over HTTP that needs the scope `admin`. */
export interface AuditEntry extends Audited {
  /** The `operationId` in the OpenAPI document. */
  readonly operation: string
  readonly status: number
}

export function outcomeOf(status: number): AuditEntry['outcome'] {
  if (status < 400) return 'done'
  return status < 500 ? 'refused' : 'failed'
}
