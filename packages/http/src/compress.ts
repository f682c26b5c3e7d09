/**
 * Compresses answers. Only operations that say so are compressed, because the length of a compressed answer tells how much of it repeats:
 * whoever can add text beside a secret, and sees lengths on the wire, could guess the secret letter by letter.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { codingOf } from './dashboard/coding.ts'
import type { Operation } from './operation.ts'

/** Shorter answers fit one packet either way. */
const FROM_BYTES = 1_024
/** Higher levels take several times as long and save a few per cent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Compresses a body by a coding. */
export const compress = {
  br: async (body: Uint8Array) => new Uint8Array(await promisify(brotliCompress)(body, BROTLI)),
  gzip: async (body: Uint8Array) => new Uint8Array(await promisify(gzip)(body)),
}

/** Returns the response, compressed if its operation allows it, the client accepts it, and it is long enough. */
export async function compressed(operation: Operation, request: Request, response: Response): Promise<Response> {
  if (operation.compress !== true || response.status !== 200) return response
  response.headers.append('vary', 'accept-encoding')
  const coding = codingOf(request.headers.get('accept-encoding'), compress)
  if (coding === undefined) return response
  const { status, headers } = response
  const body = new Uint8Array(await response.arrayBuffer())
  if (body.byteLength < FROM_BYTES) return new Response(body, { status, headers })
  const short = await compress[coding](body)
  headers.set('content-encoding', coding)
  headers.delete('content-length')
  return new Response(short, { status, headers })
}
