// An engine that nobody stops, and that has nothing to do, does not keep its process alive.
import { defineJob, openEngine } from '@millrace/engine'

const engine = await openEngine({ file: 'idle.db' })
await engine.enqueue(defineJob({ name: 'later' }), 1)
await engine.list()
process.stdout.write('enqueued')
