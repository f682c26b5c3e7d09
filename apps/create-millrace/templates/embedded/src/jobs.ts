/** The jobs: their names, their data, and how often they are tried. */
import { defineJob } from '@millrace/engine'

export const sendMail = defineJob<{ to: string }>({
  name: 'send-mail',
  maxAttempts: 5,
  backoff: { type: 'exponential', delay: '1s', jitter: 'equal' },
  timeout: '30s',
})

export const report = defineJob({ name: 'report' })
