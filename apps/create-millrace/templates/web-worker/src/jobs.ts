/** The jobs: their names, their data, and how often they are tried. */
import { defineJob } from '@millrace/remote'

export const confirmOrder = defineJob<{ item: string }>({
  name: 'confirm-order',
  maxAttempts: 5,
  backoff: { type: 'exponential', delay: '1s' },
  timeout: '30s',
}).returns<string>()
