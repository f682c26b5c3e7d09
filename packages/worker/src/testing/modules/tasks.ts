/** A handler module that does what its data says. */
import { threadId } from 'node:worker_threads'
import type { Context } from '../../handlerContext.ts'
import { counters, MAY_EXIT, SETUPS, STARTS, TEARDOWNS } from './counters.ts'

export function setup(): void {
  Atomics.add(counters(), SETUPS, 1)
}

export function teardown(): void {
  Atomics.add(counters(), TEARDOWNS, 1)
}

export async function handler({ data, signal, progress, heartbeat, checkpoint, log, step }: Context): Promise<unknown> {
  Atomics.add(counters(), STARTS, 1)
  switch (data) {
    case 'where':
      return threadId
    case 'report':
      progress(0.5)
      log('info', 'first')
      progress(1, 'all')
      log('warn', 'last', { n: 1 })
      return 'reported'
    case 'flood':
      for (let step = 1; step <= 100_000; step++) progress(step / 100_000)
      return 'flooded'
    case 'linger':
      await heartbeat()
      progress(1)
      log('info', 'late')
      return 'lingered'
    case 'listen':
      log('info', 'started')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return (signal.reason as { code?: string }).code
    case 'spin':
      log('info', 'about to spin')
      for (;;);
    case 'beat':
      void heartbeat()
      void checkpoint(1)
      await checkpoint(2).catch(() => {})
      return 'alive'
    case 'steps':
      await step('first', () => 1)
      await step('second', () => 2)
      return 'stepped'
    case 'exitLater':
      // The test says when: it has the answer by then.
      void Promise.resolve(Atomics.waitAsync(counters(), MAY_EXIT, 0).value).then(() => process.exit(0))
      return 'leaving'
    case 'env':
      return process.env['MILLRACE_TEST']
    default:
      return data
  }
}
