/** `produceAnyway.ts [HOW_MANY]`: creates jobs whether or not the engine runs. What it could not hand over, its next start does. */
import { join } from 'node:path'
import { connect } from '@millrace/remote'
import { FOLDER, square, URL } from './jobs.ts'

const count = Number(process.argv[2] ?? 10)
const engine = await connect(URL, { journal: join(FOLDER, 'journal'), logger: console })
const jobs = await Promise.all(Array.from({ length: count }, (_, number) => engine.enqueue(square, number)))
console.log(`${jobs.length} jobs are safe, the first is ${jobs[0]?.id}`)
await engine.stop()
