/** `millrace export`: prints jobs as lines of JSON, which `import` accepts. */
import { retryLost } from '@millrace/client'
import { type ListOrder, validateListOptions } from '@millrace/core'
import type { ListOptions } from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { jsonText } from '../../visible.ts'
import type { Context } from '../context.ts'
import { exportedJob } from '../imported.ts'
import { many } from '../output/amounts.ts'

interface Flags {
  readonly state?: string
  readonly queue?: string
  readonly name?: string
  readonly tag?: string
}

const PAGE = 200

export function addExport(program: Command, context: Context): void {
  program
    .command('export')
    .description('Print jobs as lines of JSON, oldest first')
    .option('--state <state>', 'only jobs in this state')
    .option('--queue <name>', 'only jobs in this queue')
    .option('--name <name>', 'only jobs with this name')
    .option('--tag <tag>', 'only jobs with this tag')
    .action((flags: Flags) => exportJobs(context, flags))
}

async function exportJobs({ connect, out, signal }: Context, { state, queue, name, tag }: Flags): Promise<void> {
  const engine = await connect()
  const page = (order: ListOrder, options: ListOptions) =>
    retryLost(() => engine.list(defined<ListOptions>({ state, queue, name, tag, order, ...options })))
  // Jobs that are enqueued during the export are left out: `export | import` of one store would never end.
  const newest = await page('newest', { limit: 1, payload: 'none' })
  const [last] = newest.jobs
  if (last === undefined) return
  // Without a next page, the newest job is the only one.
  const end = newest.next === undefined ? 0 : rowOf(newest.next, 'newest')
  const progress = out.progress()
  let after: string | undefined
  let count = 0
  try {
    do {
      const { jobs, next } = await page('oldest', defined<ListOptions>({ after, limit: PAGE }))
      const place = jobs.findIndex(({ id }) => id === last.id)
      const taken = place < 0 ? jobs : jobs.slice(0, place + 1)
      await out.raw(taken.map((job) => `${jsonText(exportedJob(job))}\n`).join(''))
      count += taken.length
      // The newest job may be gone by now.
      after = next !== undefined && rowOf(next, 'oldest') < end ? next : undefined
      progress.show(() => `${many(count, 'job')} exported`)
    } while (after !== undefined && !signal.aborted)
  } finally {
    progress.end()
  }
}

/** Returns the place of a job in the order of arrival. `cursor` is the `next` of a page that ends with this job. */
function rowOf(cursor: string, order: ListOrder): number {
  return validateListOptions({ after: cursor, order }).place.before ?? 0
}
