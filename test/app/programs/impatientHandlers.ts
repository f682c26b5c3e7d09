/** Asks its daemon to end while that one starts, and then holds up the start. */
import { defineJob } from '@millrace/engine'

process.kill(process.pid, 'SIGTERM')
await new Promise(() => {})

export const nothing = defineJob({ name: 'nothing' }).handler(() => {})
