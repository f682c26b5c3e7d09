/** Opens a file and keeps it until it is told to stop: `owner.ts <file>`. */
import { once } from 'node:events'
import { openEngine } from '@millrace/engine'

const engine = await openEngine({ file: process.argv[2] as string })
process.stdout.write(`open ${process.pid}\n`)
process.stdin.resume()
await once(process.stdin, 'data')
await engine.enqueue('last.words')
await engine.stop()
process.stdout.write('stopped\n')
process.stdin.destroy()
