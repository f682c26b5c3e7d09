/** Problems of workers that are silent or hold on to runs, and of schedules whose last job failed. */
import type { Schedule, Worker } from '../../../api/answers.ts'
import { ago } from '../../../format/durations.ts'
import { jobLink, scheduleLink, workerLink } from '../../../router/links.ts'
import { TEXT } from '../../../text.ts'
import type { Inputs, Problem } from './problem.ts'

const { problems } = TEXT

export function workerProblems({ workers, schedules, now }: Inputs): readonly Problem[] {
  return [
    ...workers.filter(({ away }) => away).map((worker) => awayProblem(worker, now)),
    ...workers.filter(({ zombies }) => zombies > 0).map(zombieProblem),
    ...schedules.filter(({ paused, lastResult }) => !paused && lastResult?.state === 'failed').map(scheduleProblem),
  ]
}

function awayProblem({ id, host, runningJobs, lastSeenAt }: Worker, now: number): Problem {
  const seen = lastSeenAt === undefined ? undefined : ago(Date.parse(lastSeenAt), now)
  return {
    id: `away ${id}`,
    severity: 'warn',
    icon: 'workers',
    title: problems.away(id),
    text: problems.awayMore(host, runningJobs, seen),
    show: workerLink(id),
  }
}

function zombieProblem({ id, host, zombies }: Worker): Problem {
  return {
    id: `zombies ${id}`,
    severity: 'warn',
    icon: 'workers',
    title: problems.zombies(id),
    text: problems.zombiesMore(host, zombies),
    show: workerLink(id),
  }
}

function scheduleProblem({ id, job, lastResult, lastJobId }: Schedule): Problem {
  const path = `/v1/schedules/${encodeURIComponent(id)}/trigger`
  const error = lastResult?.error
  return {
    id: `schedule ${id}`,
    severity: 'warn',
    icon: 'schedules',
    title: problems.schedule(id),
    text: problems.scheduleMore(job, error?.name),
    ...(error !== undefined && { message: error.message }),
    show: lastJobId === undefined ? scheduleLink(id) : jobLink(lastJobId),
    remedy: { label: problems.runNow, does: { action: { path, done: TEXT.actions.triggered(id) } } },
  }
}
