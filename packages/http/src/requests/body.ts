/** Reads bodies up to a limit, and parses them once. */
import { checkJsonText } from '@millrace/core'
import { HttpError } from '../errors.ts'
import { inTime, type Patience } from './inTime.ts'
import { refusePoison } from './poison.ts'

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:; *charset="?utf-8"? *)?$/i

const DECODER = new TextDecoder('utf-8', { fatal: true })

export function isJson(type: string): boolean {
  return JSON_TYPE.test(type)
}

/**
 * Returns the body as JSON, or undefined if there is none.
 *
 * @param operationBytes what the operation reads at most, if that is less than `maxBodyBytes`
 * @throws HttpError 400, 408, 413, 415; OptionRangeError
 */
export async function readJson(request: Request, patience: Patience, operationBytes = Number.POSITIVE_INFINITY): Promise<unknown> {
  const { headers } = request
  const { maxBodyBytes } = patience.settings
  const maxBytes = Math.min(maxBodyBytes, operationBytes)
  const tooLarge = () => (operationBytes < maxBodyBytes ? tooLargeHere(maxBytes) : tooLargeFor(maxBytes))
  const length = headers.get('content-length')
  if (length === '0' || (length === null && !isChunked(request))) return undefined
  const type = headers.get('content-type')
  const isTyped = type !== null && isJson(type)
  // No header says that a POST or DELETE has no body, as `curl -X POST` sends it. Reading it shows that.
  const mayBeEmpty = length === null && (type === null || !headers.has('transfer-encoding'))
  if (!isTyped && !mayBeEmpty) throw unsupported(type, 'application/json')
  if (length !== null && Number(length) > maxBytes) throw tooLarge()
  const reading: Promise<ArrayBuffer | Uint8Array> = length === null ? readBounded(request, maxBytes, tooLarge) : request.arrayBuffer()
  const bytes = await inTime(reading, patience).catch(unread)
  // A server has held the body to its length. Bodies from elsewhere are checked here.
  if (bytes.byteLength > maxBytes) throw tooLarge()
  if (bytes.byteLength === 0) return undefined
  if (!isTyped) throw unsupported(type, 'application/json')
  const text = textOf(bytes)
  checkJsonText('body', text)
  const value = parse(text)
  refusePoison(text, value)
  return value
}

/**
 * Refuses a body that is compressed or otherwise encoded, because nothing here decodes it.
 *
 * @throws HttpError 415
 */
export function refuseEncoding({ headers }: Request): void {
  const encoding = headers.get('content-encoding')
  if (encoding === null || /^(?:identity)?$/i.test(encoding.trim())) return
  const message = `the body has the content encoding ${encoding.slice(0, 100)}, and only identity is read: send it as it is`
  throw new HttpError('UNSUPPORTED_MEDIA_TYPE', message, {}, { 'accept-encoding': 'identity' })
}

/** True if the length of the body is unknown. A Request that was made from a string has no headers that say so. */
function isChunked(request: Request): boolean {
  return request.headers.has('transfer-encoding') || request.body !== null
}

async function readBounded(request: Request, maxBytes: number, tooLarge: () => HttpError): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Decodes the body. Refuses bytes that are not UTF-8, because they would be stored as other characters. */
function textOf(bytes: ArrayBuffer | Uint8Array): string {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw new HttpError('MALFORMED', 'the body is not UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HttpError('MALFORMED', `the body is not JSON: ${(error as Error).message}`)
  }
}

function unread(error: unknown): never {
  if (error instanceof HttpError) throw error
  throw new HttpError('INCOMPLETE', 'the body ended before it was whole')
}

export function unsupported(type: string | null, wanted: string): HttpError {
  return new HttpError('UNSUPPORTED_MEDIA_TYPE', `the body is ${type === null ? 'of no content type' : type}, and ${wanted} is read`)
}

function tooLargeHere(limit: number): HttpError {
  return new HttpError('TOO_LARGE', `the body has more than ${limit} bytes: this operation reads no more`, { limit })
}

function tooLargeFor(maxBytes: number): HttpError {
  return new HttpError('TOO_LARGE', `the body has more than ${maxBytes} bytes: send less at a time, or raise maxBodyBytes`, {
    option: 'maxBodyBytes',
    limit: maxBytes,
  })
}
