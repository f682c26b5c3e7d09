/** How long a request may take to arrive. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from './clock.ts'

export interface Patience {
  readonly ms: number
  /** It may take as long as it comes, and only never be silent for so long. */
  readonly endless: boolean
}

/** Ends the connection of a request that is not whole in time, with 408 where nothing was answered yet. */
export function whole(request: IncomingMessage, response: ServerResponse, { ms, endless }: Patience): void {
  if (request.complete) return
  let seen = request.socket.bytesRead
  let cancel = after(ms, look)
  function look(): void {
    const { bytesRead } = request.socket
    // What has come and is not read yet is waited for by nobody but us.
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
