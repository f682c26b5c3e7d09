/** `millrace flows`: shows jobs that wait for one another. */
import { retryLost } from '@millrace/client'
import { JobNotFoundError, LIMITS, STATES } from '@millrace/core'
import type { Engine, FlowJob, FlowListOptions, FlowSummary } from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { awayText, countText } from '../output/amounts.ts'
import { stateText } from '../output/style.ts'
import { number } from '../values.ts'

/** The number of refs that a line for people shows. */
const REFS_SHOWN = 3

interface ListFlags {
  readonly state?: string
  readonly limit?: number
  readonly after?: string
}

export function addFlows(program: Command, { connect, out }: Context): void {
  const flows = program.command('flows').description('Inspect flows: jobs that wait for one another')
  defaultCommand(flows, 'list')
    .description('List flows, newest first, with the number of their jobs in each state')
    .option('--state <state>', 'only flows in this state: running, completed, failed or cancelled')
    .option('--limit <number>', 'at most this many: 1 to 200; default 50', number)
    .option('--after <cursor>', '"next" of the previous page')
    .action(async (flags: ListFlags) => {
      const engine = await connect()
      const page = await retryLost(() => engine.flows.list(defined<FlowListOptions>({ ...flags })))
      await out.answer({ flows: page.flows, next: page.next, partial: page.partial === true }, () =>
        out.list(
          'no flows',
          [
            { title: 'ID', text: ({ id }) => id },
            { title: 'NAME', elastic: true, text: ({ name }) => name },
            { title: 'QUEUE', elastic: true, text: ({ queue }) => queue },
            { title: 'STATE', text: ({ state }) => stateText(state, out.paint) },
            { title: 'JOBS', text: jobsText },
            { title: 'ENQUEUED', text: ({ enqueuedAt }) => awayText(enqueuedAt, now()) },
          ],
          page.flows,
        ),
      )
      out.more(page.next)
    })
  flows
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
            { title: 'NAME', elastic: true, text: ({ name }) => name },
            { title: 'QUEUE', elastic: true, text: ({ queue }) => queue },
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
    const page = await retryLost(() => engine.flows.get(given, { limit: LIMITS.pageJobs, ...(after !== undefined && { after }) }))
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
  const job = await retryLost(() => engine.get(given))
  if (job !== undefined) return new UsageError(`job ${given} is not part of a flow: inspect it with millrace jobs show`)
  return new JobNotFoundError(`there is no flow ${given}, or all of its jobs were deleted`, { jobId: given })
}

/** Formats the counts of the states that a flow has jobs in: `2 completed, 1 active`. */
function jobsText({ states }: FlowSummary): string {
  return STATES.flatMap((state) => (states[state] === 0 ? [] : `${countText(states[state])} ${state}`)).join(', ')
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
