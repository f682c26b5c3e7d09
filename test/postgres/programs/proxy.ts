/**
 * Stands between a store and its server, and breaks the next connection on which something is written, when it is told to. It prints its URL.
 *
 *     node proxy.ts URL
 *
 * A line on stdin says how: `before`, so that the server gets nothing of it; `after`, once the server has committed and before it can say so.
 */
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

const url = new URL(process.argv[2] ?? '')
const folder = url.searchParams.get('host')
const port = Number(url.port || 5_432)
const target = folder === null ? { host: url.hostname, port } : { path: `${folder}/.s.PGSQL.${port}` }

let cut: 'before' | 'after' | undefined

createInterface({ input: process.stdin }).on('line', (line) => {
  cut = line as 'before' | 'after'
  process.stdout.write('armed\n')
})
process.stdin.once('close', () => process.exit(0))

const listener = createServer((client) => {
  const server = connect(target)
  const end = () => {
    cut = undefined
    client.destroy()
    server.destroy()
  }
  pass(client, server, () => cut === 'before', end)
  pass(server, client, (data) => cut === 'after' && data.includes('COMMIT\0'), end)
})
listener.listen(0, '127.0.0.1', () => {
  const address = listener.address()
  if (typeof address === 'string' || address === null) throw new Error('the proxy has no port')
  process.stdout.write(`postgres://${url.username}@127.0.0.1:${address.port}${url.pathname}\n`)
})

/** Passes on what comes from one to the other, until it breaks. */
function pass(from: Socket, to: Socket, breaks: (data: Buffer) => boolean, end: () => void): void {
  from.on('data', (data) => {
    if (breaks(data)) end()
    else to.write(data)
  })
  from.on('error', () => to.destroy())
  from.on('close', () => to.end())
}
