/** Tells its daemon to end while that one starts. */
import { defineJob } from '@millrace/engine'

process.kill(process.pid, 'SIGTERM')

export const nothing = defineJob({ name: 'nothing' }).handler(() => {})
