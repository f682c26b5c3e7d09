/** Fills the disk that its queue lies on, and says what the engine does then: `fullDisk.ts <folder>`. */
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, MillraceError, openEngine } from '@millrace/engine'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { gate } from '../../gate.ts'
import { fillDisk } from './fillDisk.ts'

const folder = process.argv[2] as string
const file = join(folder, 'jobs.db')
const filler = join(folder, 'filler')
const say = (what: string, value: unknown) => process.stdout.write(`${what} ${JSON.stringify(value)}\n`)
const codeOf = (error: unknown) => (error instanceof MillraceError ? error.code : String(error))
const ballast = () => existsSync(`${file}-ballast`)

const long = defineJob({ name: 'long', timeout: '5m' })
const waiting = defineJob({ name: 'waiting' })
const held = gate()

const engine = await openEngine({ file })
const worker = engine.work([
  long.handler(async ({ heartbeat, checkpoint, enqueue }) => {
    await held.wait()
    await heartbeat()
    await checkpoint({ page: 2 })
    enqueue('child')
    return 'done'
  }),
])
const entered = once(held, 'entered')
const running = await engine.enqueue(long)
const before = await engine.enqueue(waiting)
await entered
say('ballast before', ballast())

fillDisk(filler)
let accepted = 3
const refusals = new Set<string>()
for (let call = 0; call < 200; call++) {
  try {
    await engine.enqueue('filling', 'x'.repeat(10_000))
    accepted++
  } catch (error) {
    refusals.add(codeOf(error))
  }
}
say('refusals', [...refusals])
say('ballast while full', ballast())
say('draining', (await engine.stats()).writer.draining)
held.open()
say('result', await running.result())
say('checkpoint', (await engine.get(running.id))?.checkpoint)
engine.work([waiting.handler(() => 'ran')])
say('started', await before.result())
const refusal = await engine.enqueue('filling').catch((error) => error)
say('still refused', codeOf(refusal))
say('what to do', refusal.message)
say('bytes that must be free', refusal.neededBytes)

rmSync(filler)
let again: string | undefined
while (again === undefined)
  again = await engine.enqueue('after').then(
    (handle) => handle.id,
    () => undefined,
  )
accepted++
say('draining after', (await engine.stats()).writer.draining)
say('ballast after', ballast())
say('reopened', (await engine.stats()).writer.reloads > 0)
await worker.stop()
await engine.stop()
const { problems, jobs } = auditFile(file)
say('problems', problems)
say('jobs', jobs.length - accepted)
