/** Handlers as a user would write them, for `millrace worker start --handlers`. */
import { existsSync, watch, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { defineJob } from '@millrace/worker'

export const handlers = [
  defineJob({ name: 'echo' }).handler(({ data, log }) => {
    log('info', 'hello', { data })
    return data
  }),
  defineJob({ name: 'fail' }).handler(({ log }) => {
    log('warn', 'about to fail')
    const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })
    throw Object.assign(new Error('no such luck', { cause }), { code: 'E_LUCK' })
  }),
]

/** Says that it has begun by making one file, and ends when there is another. */
export const gate = defineJob<{ begun: string; open: string }>({ name: 'gate' }).handler(async ({ data, log, signal }) => {
  log('info', 'begun')
  writeFileSync(data.begun, '')
  await new Promise<void>((resolve, reject) => {
    const watcher = watch(dirname(data.open), () => look())
    const look = () => {
      if (!existsSync(data.open)) return
      watcher.close()
      resolve()
    }
    signal.addEventListener('abort', () => {
      watcher.close()
      reject(signal.reason as Error)
    })
    look()
  })
  return 'opened'
})
