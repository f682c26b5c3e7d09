/**
 * Attackers on HTTP that come back when they are sent away, in a process of their own: `crowd.ts PORT COUNT KIND SCHEME`. Each reads no
 * answer (`unread`), or sends half of a log-in (`login`); with `both` they alternate. Prints `there` when all have come once.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

const [port, count, kind, scheme] = process.argv.slice(2)
const TEXTS = {
  unread: 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16),
  login: 'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"token":"',
}
const open = new Set<Socket>()
let came = 0
let told = false

setInterval(() => {
  if (open.size < Number(count)) {
    const text = kind === 'both' ? (came % 2 === 0 ? TEXTS.unread : TEXTS.login) : TEXTS[kind as 'unread' | 'login']
    const at = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }
    const socket: Socket = scheme === 'https' ? connectTls(at) : connect(at)
    open.add(socket)
    came++
    socket.once(scheme === 'https' ? 'secureConnect' : 'connect', () => {
      socket.write(text)
      // Those that read nothing notice nothing: they leave when their time has come, and others come.
      if (text === TEXTS.unread) socket.pause()
    })
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    if (text === TEXTS.login) socket.resume()
  }
  if (!told && came >= Number(count)) {
    told = true
    process.stdout.write('there\n')
  }
}, 10)
