/** A handler module for the thread-pool tests: does what its data says. */
import { threadId } from 'node:worker_threads'
import type { Context } from '@millrace/engine'

let setups = 0

export function setup(): void {
  setups++
}

export async function handler({
  data,
  job,
  signal,
  progress,
  checkpoint,
  heartbeat,
  log,
  enqueue,
  snooze,
  discard,
  cancel,
  join,
}: Context<{ do: string; value?: number }>): Promise<unknown> {
  switch (data.do) {
    case 'square':
      return (data.value ?? 0) ** 2
    case 'where':
      return { threadId, setups }
    case 'tell':
      progress(0.5, 'half')
      log('info', 'from the thread', { attempt: job.attempt })
      await heartbeat()
      await checkpoint({ seen: job.attempt })
      enqueue('child', { from: job.id })
      if (job.attempt === 1) throw Object.assign(new TypeError('first'), { extra: 1 })
      return job.checkpoint
    case 'abort':
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    case 'spin':
      for (;;);
    case 'exit':
      return process.exit(3)
    case 'snooze':
      if (job.run === 1) snooze('1h')
      return 'awake'
    case 'join': {
      const states: string[] = []
      for await (const { state } of await join('squares', [{ job: 'answer', data: { do: 'square', value: 2 } }])) states.push(state)
      return states
    }
    case 'call': {
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      throw Object.assign(new TypeError('fetch failed', { cause: refused }), { code: 502 })
    }
    case 'discard':
      return discard('unwanted')
    case 'cancel':
      return cancel('unwanted')
    case 'why':
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(log('info', signal.reason.reason))))
    default:
      throw new Error(`what is '${data.do}'?`)
  }
}
