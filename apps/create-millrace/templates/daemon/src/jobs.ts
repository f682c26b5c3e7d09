/** The jobs with their handlers. A worker serves each handler that this module exports. */
import { defineJob } from '@millrace/worker'

export const sendMail = defineJob<{ to: string }>({
  name: 'send-mail',
  maxAttempts: 5,
  backoff: { type: 'exponential', delay: '1s' },
  timeout: '30s',
}).handler(async ({ data, log }) => {
  // Your code goes here. A job can run more than once: make handlers idempotent.
  log('info', `sending a mail to ${data.to}`)
  return `sent to ${data.to}`
})

export const report = defineJob({ name: 'report' }).handler(async ({ log }) => {
  log('info', 'wrote the report')
})
