import { defineJob } from '@millrace/engine'

/** Kills the process that runs it, every time. */
export const poison = defineJob({ name: 'poison', maxAttempts: 3 })
/** Runs until its process dies. */
export const endless = defineJob({ name: 'endless', backoff: { type: 'fixed', delay: '1h' } })
export const bystander = defineJob({ name: 'bystander' })
