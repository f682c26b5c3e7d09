/** Opens queues on a disk that is full already, and says how it goes: `openFull.ts <folder>`. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, MillraceError, openEngine } from '@millrace/engine'
import { fillDisk } from './fillDisk.ts'

const folder = process.argv[2] as string
const file = join(folder, 'jobs.db')
const filler = join(folder, 'filler')
const say = (what: string, value: unknown) => process.stdout.write(`${what} ${JSON.stringify(value)}\n`)
const codeOf = (error: unknown) => (error instanceof MillraceError ? `${error.code}: ${error.message}` : String(error))
const job = defineJob({ name: 'a' })

const before = await openEngine({ file })
const { id } = await before.enqueue(job)
await before.stop()
fillDisk(filler)

say('a new file', await openEngine({ file: join(folder, 'new.db') }).catch(codeOf))
say('a log is left of it', existsSync(join(folder, 'new.db-wal')))
const engine = await openEngine({ file })
say('the old file has its ballast', existsSync(`${file}-ballast`))
const done = new Promise((resolve) => engine.on('completed', resolve))
engine.work([job.handler(() => 'ran')])
await done
say('its job', (await engine.get(id))?.output)
await engine.stop()
rmSync(filler)
const after = await openEngine({ file })
say('with room it has its ballast', existsSync(`${file}-ballast`))
await after.stop()
