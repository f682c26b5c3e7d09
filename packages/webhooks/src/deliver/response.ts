/** Keeps the requested part of an answer, however long the answer is. */
import type { Dispatcher } from 'undici'

/** The output of a delivered webhook. */
export interface WebhookOutput {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body as a string, or as base64 if it is not UTF-8. */
  readonly body: string
  readonly encoding: 'utf8' | 'base64'
  /** True if the body was longer than `maxResponseBytes`. */
  readonly truncated: boolean
  readonly durationMs: number
}

const HEADERS_KEPT = ['content-type', 'content-length', 'date', 'etag', 'location', 'retry-after', 'server', 'x-request-id'] as const
const HEADER_LENGTH = 512

export type KeptBody = Pick<WebhookOutput, 'body' | 'encoding' | 'truncated'>

/** Reads up to `max` bytes. Cuts off a longer body there, and closes its connection. */
export async function readBody(stream: Dispatcher.ResponseData['body'], max: number): Promise<KeptBody> {
  const chunks: Buffer[] = []
  let left = max
  let truncated = false
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
    truncated = chunk.length > left
    left -= chunk.length
    if (truncated) break
  }
  return { ...decoded(Buffer.concat(chunks), truncated), truncated }
}

function decoded(bytes: Buffer, truncated: boolean): Pick<WebhookOutput, 'body' | 'encoding'> {
  try {
    // A body that was cut off in the middle of a character is still UTF-8.
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: truncated }), encoding: 'utf8' }
  } catch {
    return { body: bytes.toString('base64'), encoding: 'base64' }
  }
}

export function headersKept(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const name of HEADERS_KEPT) {
    const value = headers[name]
    if (value !== undefined) kept[name] = String(value).slice(0, HEADER_LENGTH)
  }
  return kept
}
