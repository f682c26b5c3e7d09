/** Connections that end with their response. */

interface NodeEnv {
  readonly incoming?: { readonly httpVersionMajor?: number }
}

/**
 * Makes the connection of a response end with it. A server that closes waits for connections that it would keep: a client that asks again
 * and again would hold it up. Only the server's answers of HTTP/1 have the header: HTTP/2 forbids it.
 */
export function letGo({ headers }: Response, env: unknown): void {
  if ((env as NodeEnv | undefined)?.incoming?.httpVersionMajor === 1) headers.set('connection', 'close')
}
