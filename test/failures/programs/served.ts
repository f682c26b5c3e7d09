/** An engine that others attach to: `served.ts FILE SOCKET DURABILITY`, until its input ends. */
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'

const [file = '', socket = '', durability] = process.argv.slice(2)
const engine = await openEngine({ file, durability: durability as 'full' | 'normal' })
const server = await listen(engine, `unix:${socket}`)
process.stdout.write('listening\n')
process.stdin.on('end', async () => {
  await server.close()
  await engine.stop()
})
process.stdin.resume()
