/** `millrace export`: prints jobs as lines of JSON, which `import` accepts. */
import type { ListOptions } from '@millrace/engine'
import type { Command } from 'commander'
import { jsonText } from '../../visible.ts'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { exportedJob } from '../imported.ts'
import { said } from '../jobFlags.ts'
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
    .description('Print jobs as lines of JSON, newest first')
    .option('--state <state>', 'only jobs in this state')
    .option('--queue <name>', 'only jobs in this queue')
    .option('--name <name>', 'only jobs with this name')
    .option('--tag <tag>', 'only jobs with this tag')
    .action((flags: Flags) => exportJobs(context, flags))
}

async function exportJobs({ connect, out, signal }: Context, { state, queue, name, tag }: Flags): Promise<void> {
  const engine = await connect()
  const progress = out.progress()
  let after: string | undefined
  let count = 0
  try {
    do {
      const options = said<ListOptions>({ state, queue, name, tag, after, limit: PAGE })
      const { jobs, next } = await again(() => engine.list(options))
      await out.raw(jobs.map((job) => `${jsonText(exportedJob(job))}\n`).join(''))
      count += jobs.length
      after = next
      progress.show(() => `${many(count, 'job')} exported`)
    } while (after !== undefined && !signal.aborted)
  } finally {
    progress.end()
  }
}
