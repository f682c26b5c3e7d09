/** What both sides know of the job. */
import { defineJob } from '@millrace/engine'

export const primes = defineJob<{ from: number; to: number }, { count: number; thread: number }>({ name: 'primes', timeout: '1m' })
