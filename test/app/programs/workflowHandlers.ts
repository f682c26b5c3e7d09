/** A workflow as a user would write it, for `millrace worker start --handlers`: it sleeps once, and fails behind that. */
import { defineJob } from '@millrace/worker'

export const workflow = defineJob({ name: 'workflow', maxAttempts: 1 }).handler(async ({ step, sleep }) => {
  await step('reserve', () => ({ seat: 'A7' }))
  await sleep('night', '1d')
  await step('charge', () => Promise.reject(new RangeError('no money')))
})
