/** The certificate of a server, as Node takes it. */
import type { ServerTlsOptions } from './options.ts'

export function certificateOf({ key, cert, ca }: ServerTlsOptions) {
  return {
    key: bufferOf(key),
    cert: bufferOf(cert),
    ...(ca !== undefined && { ca: bufferOf(ca) }),
    minVersion: 'TLSv1.3' as const,
  }
}

function bufferOf(pem: string | Uint8Array): Buffer | string {
  return typeof pem === 'string' ? pem : Buffer.from(pem)
}
