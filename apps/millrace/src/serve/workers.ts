/** The daemon's own workers: one for each kind of work, so that none takes the places of another. */
import type { Engine } from '@millrace/client'
import type { Handler, Worker } from '@millrace/worker'
import type { Config } from '../config/schema/schema.ts'
import { named } from './named.ts'

/** Where event webhooks are delivered from. */
export const EVENTS_QUEUE = 'webhooks'

/** One worker of the daemon. */
export interface Plan {
  /** Behind `worker.id`: the name of this one. */
  readonly suffix: string
  readonly handlers: readonly Handler[]
  /** Jobs at a time. */
  readonly concurrency: number
  /** Of the queues that the configuration names, these alone; undefined for all of them. */
  readonly queue?: string
}

/** Handlers by where they come from. */
export interface Handlers {
  readonly modules: readonly Handler[]
  readonly commands: readonly Handler[]
  readonly webhooks: readonly Handler[]
  /** As `webhooks`, with places at each host of its own. */
  readonly events: readonly Handler[]
}

export function plansOf({ worker, webhooks }: Config, handlers: Handlers): readonly Plan[] {
  const plans: readonly Plan[] = [
    { suffix: '', handlers: handlers.modules, concurrency: worker.concurrency },
    { suffix: '-commands', handlers: handlers.commands, concurrency: worker.execConcurrency },
    { suffix: '-webhooks', handlers: handlers.webhooks, concurrency: webhooks.concurrency },
    { suffix: '-events', handlers: handlers.events, concurrency: webhooks.eventConcurrency, queue: EVENTS_QUEUE },
  ]
  return plans.filter(({ handlers: own, queue }) => own.length > 0 && (queue === undefined || (worker.queues?.includes(queue) ?? true)))
}

/** @param workers those that were started so far, also where a later one cannot be. @throws ConfigError */
export async function startWorkers(
  engine: Engine,
  plans: readonly Plan[],
  { id, queues, abortGrace }: Config['worker'],
  workers: Worker[],
) {
  for (const { suffix, handlers, concurrency, queue } of plans) {
    const served = queue === undefined ? queues : [queue]
    const options = {
      concurrency,
      abortGrace,
      ...(id !== undefined && { id: `${id}${suffix}` }),
      ...(served !== undefined && { queues: served }),
    }
    workers.push(await named('worker', () => engine.work(handlers, options)))
  }
}
