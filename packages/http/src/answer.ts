/** Responses, each with headers that restrict what a browser does with it. */

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

export const SECURITY_HEADERS = { ...SECURITY, 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" }

const JSON_HEADERS = { 'content-type': 'application/json', ...SECURITY_HEADERS }

/** Returns a JSON response. Dates become ISO 8601, undefined is left out, and Infinity becomes null: no limit. */
export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(value), { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } })
}

export function noContent(headers?: Readonly<Record<string, string>>): Response {
  return new Response(null, { status: 204, headers: headers === undefined ? SECURITY_HEADERS : { ...SECURITY_HEADERS, ...headers } })
}

export function text(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  type: string,
  headers?: Readonly<Record<string, string>>,
): Response {
  return new Response(body, { status: 200, headers: { ...SECURITY_HEADERS, 'content-type': type, ...headers } })
}

/** Returns a file to save. The name must not need any quoting. */
export function download(body: string | Uint8Array<ArrayBuffer>, type: string, filename: string): Response {
  const headers = { ...SECURITY_HEADERS, 'content-type': type, 'content-disposition': `attachment; filename="${filename}"` }
  return new Response(body, { status: 200, headers })
}
