/** A handler module for child processes that does what its data says. */
import { appendFileSync } from 'node:fs'
import type { Context } from '../../handlerContext.ts'

let setups = 0

export function setup(): void {
  setups++
}

export function teardown(): void {
  const file = process.env['MILLRACE_TEST_TEARDOWN']
  if (file !== undefined) appendFileSync(file, `${process.pid}\n`)
}

export async function handler({
  data,
  job,
  signal,
  progress,
  heartbeat,
  checkpoint,
  log,
  enqueue,
  snooze,
  join,
}: Context): Promise<unknown> {
  switch (data) {
    case 'where':
      return { pid: process.pid, setups, limit: process.execArgv.find((flag) => flag.startsWith('--max-old-space-size')) }
    case 'tell':
      progress(0.5, 'half')
      log('info', 'from the process', { attempt: job.attempt })
      await heartbeat()
      await checkpoint({ seen: job.checkpoint ?? 'nothing' })
      enqueue('child', { from: job.id })
      return 'told'
    case 'snooze':
      return snooze('1h')
    case 'join':
      for await (const { ref } of await join('pages', [{ job: 'page', data: 1 }])) return ref
      return 'nobody'
    case 'throw':
      throw new TypeError('not this one')
    case 'listen':
      log('info', 'started')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return (signal.reason as { code?: string }).code
    case 'spin':
      log('info', 'about to spin')
      for (;;);
    case 'exit':
      log('info', 'last words')
      return process.exit(3)
    case 'die':
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    case 'uncaught':
      queueMicrotask(() => {
        throw new RangeError('nobody catches this')
      })
      return new Promise(() => {})
    case 'hoard': {
      const hoard: number[][] = []
      for (;;) hoard.push(Array.from({ length: 100_000 }, (_, index) => index + hoard.length))
    }
    case 'interrupt':
      process.kill(process.pid, 'SIGINT')
      process.kill(process.pid, 'SIGTERM')
      await heartbeat()
      return 'still here'
    case 'late':
      void heartbeat()
      return 'early'
    case 'env':
      return process.env['MILLRACE_TEST']
    default:
      return data
  }
}
