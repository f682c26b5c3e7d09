/** An engine on a file that others attach to: `server.ts FILE SOCKET [DURABILITY]`, until it is killed or its input ends. */
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'

const [file = '', socket = '', durability = 'normal'] = process.argv.slice(2)
const engine = await openEngine({ file, durability: durability as 'full' | 'normal', waitForOwner: '10s' })
const server = await listen(engine, `unix:${socket}`)
process.stdout.write('listening\n')
process.stdin.on('end', async () => {
  await server.close()
  await engine.stop()
})
process.stdin.resume()
