/** One turn's decisions: which function decides which command. Exhaustive, so a command without one does not compile. */
import type { Command, CommandOf, Operation } from '../commands.ts'
import { type Decision, HELD } from '../replies.ts'
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

/** Questions change nothing: the actor answers them after the commit. */
const question = (): typeof HELD => HELD

const OPERATIONS: { readonly [Op in Operation]: Decide<Op> } = {
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
  queues: question,
  cancelMany,
  retryMany,
  deleteMany,
  parents: question,
  getFlow: question,
  get: question,
  watch: question,
  unwatch: question,
  stats: question,
  workers: question,
  list: question,
  subscribe: question,
  events: question,
  export: exportFinished,
  exports: question,
  deleteExport,
  backup: question,
  upsertSchedule,
  getSchedule: question,
  listSchedules: question,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  triggerSchedule,
  history: question,
  failures: question,
}

/** Whether it changes nothing, and is answered after the commit. */
export function isQuestion({ op }: Command): boolean {
  return OPERATIONS[op] === question
}

export function decide<Op extends Operation>(turn: TurnContext, command: Command & { op: Op }, sender: Sender): Decision<Op> {
  return findOversized(turn.settings, command) ?? (OPERATIONS[command.op] as Decide<Op>)(turn, command as CommandOf<Op>, sender)
}
