/** Passes the delivery of one turn to the parts of this process that it concerns. */
import type { Delivery } from '@millrace/core'
import { apart } from '@millrace/worker'
import type { Listeners } from './listeners.ts'
import type { Mailbox } from './mailbox.ts'
import type { Workers } from './workers.ts'

export interface Recipients {
  readonly mailbox: Mailbox
  readonly listeners: Listeners
  readonly workers: Workers
}

/** Handlers and listeners run apart from the call that has brought the delivery: they get nothing of an enqueuer. */
export function deliver(delivery: Delivery, recipients: Recipients): void {
  apart(pass, delivery, recipients)
}

function pass({ replies, grants, notices, events }: Delivery, { mailbox, listeners, workers }: Recipients): void {
  for (const reply of replies) mailbox.answer(reply)
  // Notices concern runs from before this turn: a job that is lost here may be granted again below.
  for (const notice of notices) {
    if (notice.kind === 'gap') listeners.missed(notice)
    else workers.notice(notice)
  }
  for (const grant of grants) workers.take(grant)
  if (events.length > 0) listeners.tell(events)
  mailbox.settle()
}
