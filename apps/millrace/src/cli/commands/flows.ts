/** `millrace flows`: shows jobs that wait for one another. */
import { JobNotFoundError, LIMITS } from '@millrace/core'
import type { Engine, FlowJob } from '@millrace/engine'
import type { Command } from 'commander'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { countText } from '../output/amounts.ts'
import { stateText } from '../output/style.ts'

/** The number of refs that a line for people shows. */
const REFS_SHOWN = 3

export function addFlows(program: Command, { connect, out }: Context): void {
  program
    .command('flows')
    .description('Inspect flows: jobs that wait for one another')
    .command('show')
    .description('Show the jobs of a flow and what each waits for, by the id of the flow or of a job')
    .argument('<id>')
    .action(async (given: string) => {
      const flow = await flowOf(await connect(), given)
      await out.answer(flow, () =>
        out.table(
          [
            { title: 'REF', text: ({ ref }) => ref },
            { title: 'ID', text: (job) => job.id },
            { title: 'NAME', text: ({ name }) => name },
            { title: 'QUEUE', text: ({ queue }) => queue },
            { title: 'STATE', text: ({ state }) => stateText(state, out.paint) },
            { title: 'ENDED', text: endedText, right: true },
            { title: 'AFTER', text: afterText },
          ],
          flow.jobs,
        ),
      )
    })
}

/** Reads all pages of a flow, which has at most 10,000 jobs. */
async function flowOf(engine: Engine, given: string): Promise<{ readonly id: string; readonly jobs: readonly FlowJob[] }> {
  const jobs: FlowJob[] = []
  for (let after: string | undefined; ; ) {
    const page = await again(() => engine.flows.get(given, { limit: LIMITS.pageJobs, ...(after !== undefined && { after }) }))
    if (page === undefined) throw await missing(engine, given)
    for (const job of page.jobs) add(jobs, job)
    after = page.next
    if (after === undefined) return { id: page.id, jobs }
  }
}

/** Adds a job of a page. A job that waits for more jobs than a page shows also begins the next page, so its parts are merged. */
function add(jobs: FlowJob[], job: FlowJob): void {
  const before = jobs.at(-1)?.id === job.id ? jobs.pop() : undefined
  jobs.push(before === undefined ? job : { ...job, dependsOn: [...before.dependsOn, ...job.dependsOn] })
}

async function missing(engine: Engine, given: string): Promise<Error> {
  const job = await again(() => engine.get(given))
  if (job !== undefined) return new UsageError(`job ${given} is in no flow: inspect it with millrace jobs show`)
  return new JobNotFoundError(`there is no flow ${given}, or all of its jobs were deleted`, { jobId: given })
}

/** Formats the number of parents that have ended, as far as the job was notified. */
function endedText({ parents, dependsOn }: FlowJob): string {
  return parents === 0 ? '' : `${countText(dependsOn.filter(({ told }) => told !== undefined).length)}/${countText(parents)}`
}

function afterText({ parents, dependsOn }: FlowJob): string {
  const refs = dependsOn.slice(0, REFS_SHOWN).map(({ ref }) => ref)
  const more = parents - refs.length
  return `${refs.join(', ')}${more > 0 ? ` and ${countText(more)} more` : ''}`
}
