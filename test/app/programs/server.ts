/** An engine of a file that listens, as a daemon does, until it is told to end. Optional: the token of its clients, with a scope each. */
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'

const [file, url, ...tokens] = process.argv.slice(2) as [string, string, ...string[]]
const engine = await openEngine({ file, durability: 'normal', share: true })
const token = tokens.map((text) => {
  const [value, scope] = text.split(':') as [string, string | undefined]
  return { token: value, ...(scope !== undefined && { scopes: [scope as 'read'] }) }
})
const server = await listen(engine, url, token.length === 0 ? {} : { token })
process.once('SIGTERM', async () => {
  await engine.stop()
  await server.close()
})
process.stdout.write(`listening at ${server.url}\n`)
