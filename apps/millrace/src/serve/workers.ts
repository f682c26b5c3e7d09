/** The daemon's own workers: one for each kind of work, so that no kind takes the slots of another. */

import type { Engine } from '@millrace/client'
import { matchesQueue } from '@millrace/core'
import type { Handler, Worker } from '@millrace/worker'
import type { Config } from '../config/schema/schema.ts'
import { named } from './named.ts'

/** The queue that event webhooks are delivered from. */
export const EVENTS_QUEUE = 'webhooks'

/** One worker of the daemon. */
export interface Plan {
  /** The suffix that follows `worker.id` in the name of this worker. */
  readonly suffix: string
  readonly handlers: readonly Handler[]
  /** The maximum number of jobs that run at a time. */
  readonly concurrency: number
  /** The only queue that it serves; undefined for all queues that the configuration names. */
  readonly queue?: string
}

/** Handlers by their source. */
export interface Handlers {
  readonly modules: readonly Handler[]
  readonly commands: readonly Handler[]
  readonly webhooks: readonly Handler[]
  /** Like `webhooks`, with its own slots at each host. */
  readonly events: readonly Handler[]
}

export function plansOf({ worker, webhooks }: Config, handlers: Handlers): readonly Plan[] {
  const plans: readonly Plan[] = [
    { suffix: '', handlers: handlers.modules, concurrency: worker.concurrency },
    { suffix: '-commands', handlers: handlers.commands, concurrency: worker.execConcurrency },
    { suffix: '-webhooks', handlers: handlers.webhooks, concurrency: webhooks.concurrency },
    { suffix: '-events', handlers: handlers.events, concurrency: webhooks.eventConcurrency, queue: EVENTS_QUEUE },
  ]
  return plans.filter(
    ({ handlers: own, queue }) =>
      own.length > 0 && (queue === undefined || (worker.queues?.some((pattern) => matchesQueue(pattern, queue)) ?? true)),
  )
}

/** @param workers receives each worker that starts, and keeps them if a later one cannot start. @throws ConfigError */
export async function startWorkers(
  engine: Engine,
  plans: readonly Plan[],
  { id, queues, order, abortGrace }: Config['worker'],
  workers: Worker[],
) {
  for (const { suffix, handlers, concurrency, queue } of plans) {
    const served = queue === undefined ? queues : [queue]
    const options = {
      concurrency,
      abortGrace,
      ...(id !== undefined && { id: `${id}${suffix}` }),
      ...(served !== undefined && { queues: served }),
      ...(order !== undefined && served === queues && { order }),
    }
    workers.push(await named('worker', () => engine.work(handlers, options)))
  }
}
