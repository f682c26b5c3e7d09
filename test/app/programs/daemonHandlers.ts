/** Handlers of a daemon under test. They say what they do on stdout, among the lines of the log. */
import { defineJob, type JobInfo } from '@millrace/engine'

const say = (what: string, { id, run }: JobInfo) => process.stdout.write(`${what} ${id} ${run}\n`)

export const quick = defineJob<unknown>({ name: 'quick' }).handler(({ data }) => data ?? 'done')

/** Ends when the program hears anything, or is aborted. */
export const hold = defineJob({ name: 'hold' }).handler(async ({ job, signal }) => {
  say('holding', job)
  await new Promise<void>((resolve, reject) => {
    process.stdin.once('data', () => resolve())
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  say('held', job)
})

/** Hears nothing. */
export const deaf = defineJob({ name: 'deaf' }).handler(async ({ job }) => {
  say('deaf', job)
  await new Promise(() => setInterval(() => {}, 1_000))
})
