/** Runs in a pool's thread: one job at a time, and the teardown of its modules at the end. */
import type { MessagePort } from 'node:worker_threads'
import type { Settlement } from '../execute.ts'
import type { Task } from '../pools/messages.ts'
import { runTask, teardown } from '../pools/modules.ts'
import { answerCalls } from './threadPool.ts'

answerCalls((call: ThreadTask | 'teardown') => (call === 'teardown' ? teardown() : run(call)))

interface ThreadTask extends Task {
  readonly channel: MessagePort
}

async function run({ channel: port, ...task }: ThreadTask): Promise<Settlement> {
  try {
    return await runTask(task, {
      say: (message) => port.postMessage(message),
      sayLast: async (message) => {
        port.postMessage(message)
        return process.exit(1)
      },
      listen: (listener) => void port.on('message', listener),
    })
  } finally {
    // The other side closes it, once everything said has been taken.
    port.unref()
  }
}
