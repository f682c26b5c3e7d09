/** The sentences that say what keeps jobs from running, of an engine as a whole. */
import type { FailingName, Percentiles, Stats, WorkerView } from '@millrace/engine'
import { countText, many, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Paint } from '../output/style.ts'

export function warningsOf(stats: Stats<Percentiles>, workers: readonly WorkerView[]): string[] {
  const { paused: everything, queues, unserved, unservedLeftOut, failing, failingLeftOut, definitions, writer } = stats
  return [
    ...(everything ? ['the engine is paused: nothing of any queue starts until millrace queues resume-all'] : []),
    ...Object.entries(queues).flatMap(([name, { paused }]) => (paused ? [`queue ${name} is paused`] : [])),
    ...unserved.map(({ queue, name, waiting }) => `no worker serves ${name} in ${queue}: ${countText(waiting)} waiting`),
    ...moreText('no worker serves', unservedLeftOut),
    ...failing.map(failingText),
    ...moreText('failing:', failingLeftOut),
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

/** Returns a line about names that a list leaves out; none if there are none. */
export function moreText(what: string, leftOut = 0): readonly string[] {
  return leftOut === 0 ? [] : [`${what} ${many(leftOut, 'more job name')}`]
}

/** Says how many runs of a name fail, or that its last ones did: a name that runs rarely has hardly a share. */
export function failingText({ queue, name, runs, failed, failedJobs, streak, firstAt }: FailingName): string {
  const share = `${countText(failed)} of ${many(runs, 'run')} in 15 minutes (${Math.round((100 * failed) / runs)} %)`
  const text = streak >= runs ? `its last ${many(streak, 'run')} failed` : share
  const lost = failedJobs === 0 ? '' : `, ${many(failedJobs, 'job')} permanently`
  return `${name} in ${queue} fails since ${timeText(new Date(firstAt))}: ${text}${lost}`
}

/** Returns the lines of names that fail, behind an empty one; none if there are none. */
export function failingLines({ failing, failingLeftOut }: Pick<Stats, 'failing' | 'failingLeftOut'>, paint: Paint): readonly Text[] {
  if (failing.length === 0) return []
  return ['', ...[...failing.map(failingText), ...moreText('failing:', failingLeftOut)].map((each) => paint('yellow', each))]
}
