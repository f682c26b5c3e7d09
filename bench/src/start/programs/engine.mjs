// From nothing to the first job that is stored, step by step; then the writer's thread dies, until the next job is stored.
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const [, , file] = process.argv
const workers = []
threads.Worker = class extends threads.Worker {
  constructor(...values) {
    super(...values)
    workers.push(this)
  }
}
syncBuiltinESMExports()

const took = {}
const began = performance.now()
let before = began
const step = (name) => {
  const now = performance.now()
  took[name] = now - before
  before = now
}
const { openEngine } = await import('@millrace/engine')
step('import')
const engine = await openEngine({ file })
step('open')
await engine.enqueue('first', {})
step('enqueue')
took.first = before - began
await workers[0].terminate()
before = performance.now()
for (let stored = false; !stored; )
  stored = await engine.enqueue('second', {}).then(
    () => true,
    (error) => {
      if (!error.retryable) throw error
      return false
    },
  )
step('restart')
console.log(JSON.stringify(took))
await engine.stop()
