/** A thread that sends one request again and again over each of many connections, and counts answers. */
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { port, request, connections, ms } = workerData as { port: number; request: string; connections: number; ms: number }
const began = performance.now()
let answers = 0
let open = connections
let status = 201

for (let connection = 0; connection < connections; connection++) {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  let text = ''
  socket.on('connect', () => socket.write(request))
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    const head = text.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = /content-length: (\d+)/i.exec(text)?.[1]
    if (length === undefined) throw new Error(`an answer without its length: ${text.slice(0, 200)}`)
    if (text.length < head + 4 + Number(length)) return
    const code = Number(text.slice(9, 12))
    if (code !== 201) status = code
    text = ''
    answers++
    if (performance.now() - began < ms) socket.write(request)
    else socket.destroy()
  })
  socket.on('close', () => {
    if (--open === 0) parentPort?.postMessage({ answers, ms: performance.now() - began, status })
  })
}
