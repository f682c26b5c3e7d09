/** `millrace flows`: jobs that wait for one another. */
import { formatId, JobNotFoundError, parseId } from '@millrace/core'
import type { Engine, Job } from '@millrace/engine'
import type { Command } from 'commander'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { stateText } from '../output/style.ts'

/** Asked for at a time. A flow ends where a whole page has none of its jobs. */
const PAGE = 100

export function addFlows(program: Command, { connect, out }: Context): void {
  program
    .command('flows')
    .description('jobs that wait for one another')
    .command('show')
    .description('the jobs of a flow, by its id or by that of any of its jobs')
    .argument('<id>')
    .action(async (given: string) => {
      const engine = await connect()
      const job = await again(() => engine.get(given))
      if (job !== undefined && job.flow === undefined) throw new UsageError(`job ${given} is in no flow: millrace jobs show tells of it`)
      const id = job?.flow?.id ?? given
      const jobs = await jobsOf(engine, id)
      if (jobs.length === 0) throw new JobNotFoundError(`there is no flow ${given}, or none of its jobs is left`, { jobId: given })
      await out.answer({ id, jobs }, () =>
        out.table(
          [
            { title: 'REF', text: ({ flow }) => flow?.ref ?? '' },
            { title: 'ID', text: (found) => found.id },
            { title: 'NAME', text: ({ name }) => name },
            { title: 'QUEUE', text: ({ queue }) => queue },
            { title: 'STATE', text: ({ state }) => stateText(state, out.paint) },
            { title: 'AFTER', text: ({ flow }) => `${flow?.parents ?? 0} jobs`, right: true },
          ],
          jobs,
        ),
      )
    })
}

/** The jobs of a flow were created in one commit: their ids differ in the row alone, and follow one another. */
async function jobsOf(engine: Engine, id: string): Promise<Job[]> {
  const first = parseId(id)
  if (first === undefined) return []
  const jobs: Job[] = []
  for (let from = first.seq; ; from += PAGE) {
    const ids = Array.from({ length: PAGE }, (_, index) => formatId({ ...first, seq: from + index }))
    const found = await Promise.all(ids.map((each) => again(() => engine.get(each))))
    const own = found.filter((job) => job !== undefined && job.flow?.id === id) as Job[]
    jobs.push(...own)
    if (own.length === 0) return jobs
  }
}
