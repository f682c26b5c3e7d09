/** Jobs that differ in how long their worker may be silent. */
import { defineJob } from '@millrace/remote'

export const jobs = [
  defineJob({ name: 'patient', heartbeatTimeout: '30s', timeout: '1h', maxAttempts: 3 }),
  defineJob({ name: 'short', heartbeatTimeout: '4s', timeout: '1h', maxAttempts: 3 }),
] as const

/** A line, with the time on the clock that all processes of a machine have in common. */
export function tell(line: string): void {
  process.stdout.write(`${line} @${process.hrtime.bigint() / 1_000_000n}\n`)
}
