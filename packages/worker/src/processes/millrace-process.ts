/** Runs in a child process: one job at a time, until the worker says that it ends, or is gone. */

import type { FromRun, ToRun } from '../pools/messages.ts'
import { runTask, teardown } from '../pools/modules.ts'
import { runErrorOf } from '../runError.ts'
import type { FromProcess, ToProcess } from './messages.ts'

let current = 0
let listener: (message: ToRun) => void = () => {}

function send(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    // Without a worker nobody is left to say anything to.
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

async function sendLast(message: FromProcess): Promise<never> {
  await send(message)
  return process.exit(1)
}

process.on('message', (message: ToProcess) => {
  if (message.kind === 'start') void start(message)
  else if (message.kind === 'end') void teardown().finally(() => process.exit())
  else if (message.run === current) listener(message.message)
})
process.on('disconnect', () => process.exit())
process.on('uncaughtException', (error) => void sendLast({ kind: 'crashed', error: runErrorOf(error) }))
// These reach all processes of a terminal or a service at once: the worker decides when its processes end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function start({ run, task }: Extract<ToProcess, { kind: 'start' }>): Promise<void> {
  current = run
  const enveloped = (message: FromRun): FromProcess => ({ kind: 'message', run, message })
  try {
    const settlement = await runTask(task, {
      say: (message) => void send(enveloped(message)),
      sayLast: (message) => sendLast(enveloped(message)),
      listen: (next) => {
        listener = next
      },
    })
    await send({ kind: 'settled', run, settlement })
  } catch (error) {
    await send({ kind: 'settled', run, settlement: { op: 'fail', seq: task.grant.seq, run: task.grant.run, error: runErrorOf(error) } })
  }
}
