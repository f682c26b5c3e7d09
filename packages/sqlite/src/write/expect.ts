/** Every statement states the number of rows that it must change. */
import { StoreFailure } from '@millrace/core/kernel'

export function expectChanges(what: string, changed: number, expected: number): void {
  if (changed === expected) return
  throw new StoreFailure('broken', 'statement', `${what}: ${changed} of ${expected} rows changed: the tables and the file do not agree`)
}
