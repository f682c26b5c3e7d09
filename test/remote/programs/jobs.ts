/** What the programs run. */
import { defineJob } from '@millrace/remote'

export const quick = defineJob<number>({ name: 'quick', maxAttempts: 50, heartbeatTimeout: '2s' })
export const long = defineJob({ name: 'long', maxAttempts: 5, heartbeatTimeout: '2s', timeout: '1h' })
