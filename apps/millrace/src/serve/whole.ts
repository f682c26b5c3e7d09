/** Limits the time in which a request must arrive. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from './clock.ts'

export interface Patience {
  readonly ms: number
  /** If true, the request may take any time, but may never be silent for `ms`. */
  readonly endless: boolean
}

/** Ends the connection of a request that is not complete in time, with 408 if nothing was answered yet. */
export function whole(request: IncomingMessage, response: ServerResponse, { ms, endless }: Patience): void {
  if (request.complete) return
  let seen = request.socket.bytesRead
  let cancel = after(ms, look)
  function look(): void {
    const { bytesRead } = request.socket
    // If received data is not read yet, the delay is ours and not the client's.
    if (endless && (bytesRead !== seen || request.readableLength > 0)) {
      seen = bytesRead
      cancel = after(ms, look)
    } else if (!request.complete) late(request, response)
  }
  request.once('end', () => cancel())
  request.once('close', () => cancel())
}

function late({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent || !socket.writable) socket.destroy()
  else socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy())
}
