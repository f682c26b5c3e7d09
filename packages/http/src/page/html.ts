import { SECURITY_HEADERS } from '../answer.ts'

/** Returns the headers of a page without scripts. @param style the hash of its style */
export function htmlHeaders(style: string): Record<string, string> {
  const policy = `default-src 'none'; style-src '${style}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`
  return { ...SECURITY_HEADERS, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
}
