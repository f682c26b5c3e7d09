/** Hands what one turn has for this process to those whom it concerns. */
import type { Delivery } from '@millrace/core'
import type { Worker } from '@millrace/worker'
import type { Listeners } from './listeners.ts'
import type { Mailbox } from './mailbox.ts'

export interface Recipients {
  readonly mailbox: Mailbox
  readonly listeners: Listeners
  /** By session. */
  readonly workers: ReadonlyMap<string, Worker>
}

export function deliver({ replies, grants, notices, events }: Delivery, { mailbox, listeners, workers }: Recipients): void {
  for (const reply of replies) mailbox.answer(reply)
  // Of runs from before this turn: a job that is lost here may be granted anew below.
  for (const notice of notices) {
    if (notice.kind === 'gap') listeners.missed(notice)
    else if (notice.kind !== 'reattach') workers.get(notice.session)?.notice(notice)
    // After what was answered before it has been heard.
    else
      queueMicrotask(() => {
        for (const worker of workers.values()) worker.notice(notice)
      })
  }
  for (const grant of grants) {
    const worker = workers.get(grant.session)
    if (worker === undefined) void mailbox.call<'giveBack'>({ op: 'giveBack', seq: grant.seq, run: grant.run }).catch(() => {})
    else worker.take(grant)
  }
  if (events.length > 0) listeners.tell(events)
  mailbox.settle()
}
