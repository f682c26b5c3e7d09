/**
 * Answers the wire protocol of MongoDB for tests, from documents in memory, because no package for this platform has the real server. It
 * knows the commands with which the driver connects and reads. Any other command is refused, and noted.
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { BSON } from 'mongodb'
import { onTestFinished } from 'vitest'

const [OP_REPLY, OP_QUERY, OP_MSG] = [1, 2_004, 2_013]
const HEADER = 16
/** The number of documents in a batch: small, so that the reader has to ask for more. */
const BATCH = 3

export interface MongoServer {
  readonly url: string
  /** The commands that it has refused. */
  readonly refused: readonly string[]
}

type Document = Readonly<Record<string, unknown>>

/** Starts a server with the documents of each collection. It ends with the test. */
export async function startMongo(collections: Readonly<Record<string, readonly Document[]>>): Promise<MongoServer> {
  const refused: string[] = []
  const cursors = new Map<string, Document[]>()
  const batchOf = (ns: string, found: Document[], first: boolean) => {
    const id = BSON.Long.fromNumber(found.length > BATCH ? cursors.size + 1 : 0)
    if (!id.isZero()) cursors.set(id.toString(), found.slice(BATCH))
    return { ok: 1, cursor: { id, ns, [first ? 'firstBatch' : 'nextBatch']: found.slice(0, BATCH) } }
  }
  const answer = (command: Document): Document => {
    const [name = ''] = Object.keys(command)
    if (/^(?:hello|ismaster)$/i.test(name)) return HELLO
    if (name === 'find') return batchOf(`app.${command['find']}`, foundBy(collections[command['find'] as string] ?? [], command), true)
    if (name === 'getMore') {
      const id = String(command['getMore'])
      const rest = cursors.get(id) ?? []
      cursors.delete(id)
      return batchOf(`app.${command['collection']}`, rest, false)
    }
    if (name === 'endSessions' || name === 'killCursors' || name === 'ping') return { ok: 1 }
    refused.push(name)
    return { ok: 0, code: 59, errmsg: `no such command: ${name}` }
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const message = received.subarray(0, received.readInt32LE(0))
        received = received.subarray(message.length)
        socket.write(replyTo(message, answer))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `mongodb://127.0.0.1:${(server.address() as { port: number }).port}/app`, refused }
}

const HELLO = {
  ...{ ok: 1, helloOk: true, isWritablePrimary: true, ismaster: true, readOnly: false, minWireVersion: 0, maxWireVersion: 25 },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
}

function foundBy(documents: readonly Document[], { filter, limit }: Document): Document[] {
  const names = (filter as { readonly name?: { readonly $in: readonly unknown[] } }).name?.$in
  const found = documents.filter(({ name }) => names === undefined || names.includes(name))
  return found.slice(0, (limit as number | undefined) || found.length)
}

function replyTo(message: Buffer, answer: (command: Document) => Document): Buffer {
  const [request, code] = [message.readInt32LE(4), message.readInt32LE(12)]
  if (code === OP_QUERY) {
    const start = message.indexOf(0, HEADER + 4) + 1 + 8
    const document = BSON.serialize(answer(BSON.deserialize(message.subarray(start))))
    const fields = Buffer.alloc(20)
    fields.writeInt32LE(1, 16)
    return framed(request, OP_REPLY, fields, document)
  }
  if (code !== OP_MSG) throw new Error(`the driver has sent a message of the kind ${code}`)
  const document = BSON.serialize(answer(BSON.deserialize(message.subarray(HEADER + 5, HEADER + 5 + message.readInt32LE(HEADER + 5)))))
  return framed(request, OP_MSG, Buffer.alloc(5), document)
}

function framed(request: number, code: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const header = Buffer.alloc(HEADER)
  for (const [index, field] of [HEADER + body.length, 1, request, code].entries()) header.writeInt32LE(field, 4 * index)
  return Buffer.concat([header, body])
}
