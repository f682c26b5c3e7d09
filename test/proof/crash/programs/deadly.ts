/** Works on a file whose jobs are deadly: `deadly.ts <file> <recovery>`. */
import { flushCompileCache } from 'node:module'
import { type JobInfo, openEngine } from '@millrace/engine'
import { bystander, endless, poison } from './deadlyJobs.ts'

const [file, recovery] = process.argv.slice(2) as [string, 'immediate' | 'backoff']
const say = (what: string, { id, run, attempt }: JobInfo) => process.stdout.write(`${what} ${id} ${run} ${attempt}\n`)

flushCompileCache()
const engine = await openEngine({ file, recovery })
engine.work(
  [
    poison.handler(({ job }) => {
      say('poison', job)
      process.kill(process.pid, 'SIGKILL')
    }),
    endless.handler(({ job }) => {
      say('endless', job)
      return new Promise(() => {})
    }),
    bystander.handler(({ job }) => say('bystander', job)),
  ],
  { id: 'deadly', concurrency: 10 },
)
