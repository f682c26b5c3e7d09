/** The sentences that say what keeps jobs from running, of an engine as a whole. */
import type { FailingName, Percentiles, Stats, WorkerView } from '@millrace/engine'
import { countText, many, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Paint } from '../output/style.ts'

export function warningsOf(
  { paused: everything, queues, unserved, failing, definitions, writer }: Stats<Percentiles>,
  workers: readonly WorkerView[],
): string[] {
  return [
    ...(everything ? ['the engine is paused: nothing of any queue starts until millrace queues resume-all'] : []),
    ...Object.entries(queues).flatMap(([name, { paused }]) => (paused ? [`queue ${name} is paused`] : [])),
    ...unserved.map(({ queue, name, waiting }) => `no worker serves ${name} in ${queue}: ${countText(waiting)} waiting`),
    ...failing.map(failingText),
    ...definitions
      .filter(({ disputedBy }) => disputedBy.length > 0)
      .map(
        ({ name, worker, host, disputedBy }) =>
          `workers disagree about the defaults of ${name}: those of ${worker} on ${host} are in force, those of ${disputedBy.join(', ')} are not`,
      ),
    ...workers.filter(({ away }) => away).map(({ id }) => `worker ${id} is away: its connection is lost, or it is silent`),
    ...workers.filter(({ zombies }) => zombies > 0).map(({ id, zombies }) => `worker ${id} has ${zombies} runs that ignore their abort`),
    ...(writer.draining ? ['new work is refused: the disk is full, or the write-ahead log has grown behind a slow reader'] : []),
  ]
}

/** Says how many runs of a name fail, or that its last ones did: a name that runs rarely has hardly a share. */
export function failingText({ queue, name, runs, failed, failedJobs, streak, firstAt }: FailingName): string {
  const share = `${countText(failed)} of ${many(runs, 'run')} in 15 minutes (${Math.round((100 * failed) / runs)} %)`
  const text = streak >= runs ? `its last ${many(streak, 'run')} failed` : share
  const lost = failedJobs === 0 ? '' : `, ${many(failedJobs, 'job')} permanently`
  return `${name} in ${queue} fails: ${text}${lost}, since ${timeText(new Date(firstAt))}`
}

/** Returns the lines of names that fail, behind an empty one; none if there are none. */
export function failingLines(failing: readonly FailingName[], paint: Paint): readonly Text[] {
  return failing.length === 0 ? [] : ['', ...failing.map((name) => paint('yellow', failingText(name)))]
}
