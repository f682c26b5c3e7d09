/** Maps each command to the function that decides it. The map is exhaustive: a command without a function does not compile. */
import { type Command, type CommandOf, isQuestion, type OfKind, type Operation } from '../operations.ts'
import { DEFERRED, type Decision } from '../replies.ts'
import { attach } from './attach.ts'
import { cancel } from './cancel.ts'
import { complete } from './complete.ts'
import { deleteJob } from './delete.ts'
import { enqueue } from './enqueue.ts'
import { deleteExport, exportFinished } from './export.ts'
import { fail } from './fail.ts'
import { flow } from './flow.ts'
import { forward } from './forward.ts'
import { giveBack } from './giveBack.ts'
import { checkpoint, heartbeat, log, progress } from './heartbeat.ts'
import { renew } from './lease.ts'
import { drain, leave, stopWorker } from './leave.ts'
import { cancelMany, deleteMany, retryMany } from './many.ts'
import { configure, deleteQueue, drainQueue, pause, pauseAll } from './queues.ts'
import { redrive, retry } from './retry.ts'
import { runNow } from './runNow.ts'
import { deleteSchedule, pauseSchedule, resumeSchedule } from './schedules/manage.ts'
import { triggerSchedule } from './schedules/trigger.ts'
import { upsertSchedule } from './schedules/upsert.ts'
import { findOversized } from './size.ts'
import { snooze } from './snooze.ts'
import { cancelTree, retryTree } from './tree.ts'
import type { Sender, TurnContext } from './turn.ts'
import { update } from './update.ts'

type Decide<Op extends Operation> = (turn: TurnContext, command: CommandOf<Op>, sender: Sender) => Decision<Op>

const DECISIONS: { readonly [Op in OfKind<'command'>]: Decide<Op> } = {
  enqueue,
  forward,
  flow,
  attach,
  drain,
  leave,
  stopWorker,
  renew,
  complete,
  fail,
  snooze,
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
  configure,
  pause,
  pauseAll,
  drainQueue,
  deleteQueue,
  cancelMany,
  retryMany,
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
