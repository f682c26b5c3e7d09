/** Chance enters here. */
import { randomUUID } from 'node:crypto'

/** Returns a name for a test of an endpoint, so that each test is a delivery of its own. */
export function newTestId(): string {
  return randomUUID()
}
