/** Maps each command to the function that decides it. The map is exhaustive: a command without a function does not compile. */

import { DEFERRED, type Decision } from '../../decision.ts'
import { type Command, type CommandOf, isQuestion, type OfKind, type Operation } from '../../operations.ts'
import { flow } from '../flows/flow.ts'
import { join } from '../flows/join.ts'
import { cancelTree, retryTree } from '../flows/tree.ts'
import { cancel } from '../jobs/cancel.ts'
import { complete } from '../jobs/complete.ts'
import { deleteJob } from '../jobs/delete.ts'
import { enqueue } from '../jobs/enqueue.ts'
import { deleteExport, exportFinished } from '../jobs/export.ts'
import { fail } from '../jobs/fail.ts'
import { forward } from '../jobs/forward.ts'
import { giveBack } from '../jobs/giveBack.ts'
import { checkpoint, heartbeat, log, progress } from '../jobs/heartbeat.ts'
import { cancelMany, deleteMany, retryMany, runNowMany, updateMany } from '../jobs/many.ts'
import { redrive, retry } from '../jobs/retry.ts'
import { runNow } from '../jobs/runNow.ts'
import { snooze } from '../jobs/snooze.ts'
import { update } from '../jobs/update.ts'
import { pause, pauseAll } from '../queues/pause.ts'
import { configure, deleteQueue, drainQueue } from '../queues/queues.ts'
import { deleteSchedule, pauseSchedule, resumeSchedule } from '../schedules/manage.ts'
import { triggerSchedule } from '../schedules/trigger.ts'
import { upsertSchedule } from '../schedules/upsert.ts'
import { adjust } from '../sessions/adjust.ts'
import { attach } from '../sessions/attach.ts'
import { drain, leave, stopWorker } from '../sessions/leave.ts'
import { renew } from '../sessions/renew.ts'
import { findOversized } from '../state/size.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { send } from '../steps/send.ts'
import { step } from '../steps/step.ts'
import { wait } from '../steps/wait.ts'
import { byKey } from './byKey.ts'

type Decide<Op extends Operation> = (turn: TurnContext, command: CommandOf<Op>, sender: Sender) => Decision<Op>

const DECISIONS: { readonly [Op in OfKind<'command'>]: Decide<Op> } = {
  enqueue,
  forward,
  flow,
  attach,
  adjust,
  drain,
  leave,
  stopWorker,
  renew,
  complete,
  fail,
  snooze,
  join,
  step,
  wait,
  send,
  giveBack,
  heartbeat,
  checkpoint,
  progress,
  log,
  cancel,
  cancelTree,
  retryTree,
  update,
  retry,
  redrive,
  runNow,
  delete: deleteJob,
  byKey,
  configure,
  pause,
  pauseAll,
  drainQueue,
  deleteQueue,
  cancelMany,
  retryMany,
  runNowMany,
  updateMany,
  deleteMany,
  export: exportFinished,
  deleteExport,
  upsertSchedule,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  triggerSchedule,
}

/** Decides a command. Questions are held until the commit, and the actor answers them. */
export function decide(turn: TurnContext, command: Command, sender: Sender): Decision<Operation> {
  if (isQuestion(command)) return DEFERRED
  const decideIt = DECISIONS[command.op as OfKind<'command'>] as Decide<Operation>
  return findOversized(turn.settings, command) ?? decideIt(turn, command, sender)
}
