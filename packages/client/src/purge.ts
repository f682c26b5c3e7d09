/** `queues.purge`: counts a queue's jobs, or removes them state by state, slice by slice. */
import { nameOption, type PurgedState, type PurgeOptions, type PurgeResult, type QueueView, validatePurgeOptions } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'
import { runMany } from './many.ts'

export async function runPurge(mailbox: Mailbox, name: string, options: PurgeOptions | undefined): Promise<PurgeResult> {
  const queue = nameOption('name', name)
  const { states, dryRun } = validatePurgeOptions(options)
  const counts: Partial<Record<PurgedState, number>> = {}
  const before = await look(mailbox, queue)
  for (const state of states)
    counts[state] = dryRun
      ? (before?.states[state] ?? 0)
      : (await runMany(mailbox, { op: 'deleteMany' }, { queue, state }, undefined)).changed
  const { active = 0 } = (dryRun ? before : await look(mailbox, queue))?.states ?? {}
  return { states: counts, count: Object.values(counts).reduce((all, count) => all + count, 0), active }
}

async function look(mailbox: Mailbox, queue: string): Promise<QueueView | undefined> {
  return (await mailbox.call<'queues'>({ op: 'queues', queue }))[0]
}
