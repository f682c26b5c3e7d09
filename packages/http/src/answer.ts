/** Answers, each with the headers that keep a browser from making more of it than it is. */

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

export const SECURITY_HEADERS = { ...SECURITY, 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" }

const JSON_HEADERS = { 'content-type': 'application/json', ...SECURITY_HEADERS }

/** Dates become ISO 8601, what is undefined is left out, and Infinity is null: no limit. */
export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(value), { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } })
}

export function noContent(): Response {
  return new Response(null, { status: 204, headers: SECURITY_HEADERS })
}

export function text(body: string | ReadableStream<Uint8Array>, type: string, headers?: Readonly<Record<string, string>>): Response {
  return new Response(body, { status: 200, headers: { ...SECURITY_HEADERS, 'content-type': type, ...headers } })
}
