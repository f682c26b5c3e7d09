/** The daemon's sockets as `/v1/sockets` shows them to clients: without a host, and with the identity of each file. */
import type { SocketPlace } from '@millrace/http'
import { fileIdentity, isLoopback } from '../machine.ts'

/** @param urls addresses as `listen` reports them */
export function placesOf(urls: readonly string[]): readonly SocketPlace[] {
  return urls.flatMap((url): readonly SocketPlace[] => {
    const [, kind, path = ''] = /^(unix|pipe):(.*)$/.exec(url) ?? []
    if (kind === 'pipe') return [{ kind, path }]
    if (kind === 'unix') {
      const file = fileIdentity(path)
      return file === undefined ? [] : [{ kind, path, file }]
    }
    const { protocol, hostname, port } = new URL(url)
    return [{ kind: protocol === 'tls:' ? 'tls' : 'tcp', port: Number(port), local: isLoopback(hostname) }]
  })
}
