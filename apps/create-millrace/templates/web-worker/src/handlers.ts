/** The handlers that the worker runs. A job can run more than once: make handlers idempotent. */
import { confirmOrder } from './jobs.ts'

export const handlers = [
  confirmOrder.handler(async ({ data, job }) => {
    // Your code goes here.
    console.log(`confirmed the order of ${data.item}, attempt ${job.attempt}`)
    return `one ${data.item} is on its way`
  }),
]
