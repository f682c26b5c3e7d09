/** Runs in a pool's thread. */
import type { MessagePort } from 'node:worker_threads'
import type { Task } from '../pools/messages.ts'
import { runTask } from '../pools/modules.ts'
import type { Settlement } from '../settlement.ts'

export { teardown } from '../pools/modules.ts'

export async function run({ channel: port, ...task }: Task & { readonly channel: MessagePort }): Promise<Settlement> {
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
