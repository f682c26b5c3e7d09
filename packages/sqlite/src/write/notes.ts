/** Writes what features note beside jobs, counters and the journal. Most turns have nothing of it. */
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { prepareExports } from './exports.ts'
import { prepareFailures } from './failures.ts'
import { prepareFlows } from './flows.ts'
import { prepareHistory } from './history.ts'
import { prepareKeys } from './keys.ts'
import { prepareRuns } from './runs.ts'
import { prepareScheduleWrites } from './schedules.ts'
import { prepareSources } from './sources.ts'
import { prepareSteps } from './steps.ts'

export function prepareNotes(db: Database): (effects: Effects, turn: TurnHeader) => void {
  const runs = prepareRuns(db)
  const steps = prepareSteps(db)
  const failures = prepareFailures(db)
  const history = prepareHistory(db)
  const keys = prepareKeys(db)
  const sources = prepareSources(db)
  const exports = prepareExports(db)
  const schedules = prepareScheduleWrites(db)
  const flows = prepareFlows(db)
  return (effects, turn) => {
    runs(effects)
    steps(effects)
    failures(effects.failures, turn.at)
    history(effects.minutes)
    keys(effects)
    sources(effects, turn.at)
    exports(effects, turn.at)
    schedules(effects)
    flows(effects)
  }
}
