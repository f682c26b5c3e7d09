/** The reads that are the same in every store. */
import type { Store } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'
import { prepareLastError, prepareLogLines } from './attempts.ts'
import { prepareEnds, prepareEvents, type TurnsAfter } from './events.ts'
import { prepareFlowList } from './flowList.ts'
import { prepareFlowDue, prepareFlowLeft } from './flows.ts'
import type { ReadFlowTally } from './flowTally.ts'
import { prepareMinutes } from './history.ts'
import { prepareKeyExpiry } from './keys.ts'
import { prepareMessages } from './messages.ts'
import { prepareStep, prepareSteps, type StepValue } from './steps.ts'

/** The parts of the shared reads that each store has of its own. */
export interface StoreReads {
  readonly prepare: Prepare
  readonly turns: TurnsAfter
  readonly tally: ReadFlowTally
  readonly stepValue: StepValue
  /** The hint by which the store uses its index of outcomes that are taken back. */
  readonly indexBack?: string
}

type SharedReads = Pick<
  Store,
  | 'keyExpiry'
  | 'flowDue'
  | 'flowLeft'
  | 'logLines'
  | 'step'
  | 'steps'
  | 'messages'
  | 'lastError'
  | 'listFlows'
  | 'events'
  | 'ends'
  | 'minutes'
>

export function prepareSharedReads({ prepare, turns, tally, stepValue, indexBack = '' }: StoreReads): SharedReads {
  return {
    keyExpiry: prepareKeyExpiry(prepare),
    flowDue: prepareFlowDue(prepare, indexBack),
    flowLeft: prepareFlowLeft(prepare),
    logLines: prepareLogLines(prepare),
    step: prepareStep(prepare),
    steps: prepareSteps(prepare, stepValue),
    messages: prepareMessages(prepare, stepValue),
    lastError: prepareLastError(prepare),
    listFlows: prepareFlowList(prepare, tally),
    events: prepareEvents(prepare, turns),
    ends: prepareEnds(turns),
    minutes: prepareMinutes(prepare),
  }
}
