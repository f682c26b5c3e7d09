/** Refuses what a page of another site makes a browser send: ADR 43. */
import { HttpError } from '../errors.ts'
import { isJson } from '../requests/body.ts'
import { hostOf } from './hosts.ts'

/** The page that made a browser send a request; `none` is the user, who has typed an address, and `unsaid` is mostly a program. */
type Sender = 'same-origin' | 'other' | 'none' | 'unsaid'

/** @throws HttpError 403, for a change that another site asks an open API for */
export function refuseOtherSites(request: Request): void {
  if (isChange(request) && senderOf(request) === 'other')
    throw crossSite('a page of another site sent this, and no token is needed here: give a token to serve other sites')
}

/** @throws HttpError 403, for a log-in or a log-out by another page than our own */
export function refuseOtherPages(request: Request): void {
  const sender = senderOf(request)
  if (sender === 'other' || sender === 'none')
    throw crossSite('a page of another origin sent this: sessions begin and end by a page of the same origin')
}

/**
 * Refuses requests by a session that our own page may not have sent. Its cookie is no proof: browsers add it to requests of pages
 * at other ports of the host, too.
 *
 * @throws HttpError 403
 */
export function refuseByCookie(request: Request): void {
  const sender = senderOf(request)
  if (sender === 'other') throw crossSite('a page of another origin sent this: a session serves pages of the same origin')
  if (!isChange(request)) return
  if (sender !== 'same-origin') {
    throw crossSite(
      'a change by a session must say that it comes from a page of the same origin: by Sec-Fetch-Site, or an Origin that is the Host, which proxies must pass on. Programs send Authorization: Bearer TOKEN',
    )
  }
  const type = request.headers.get('content-type')
  if (type !== null && !isJson(type))
    throw crossSite(`a change by a session must have a body of application/json, got ${type.slice(0, 100)}`)
}

function isChange({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** Returns who sent a request, as the browser says it. Pages can set neither of the two headers. */
function senderOf(request: Request): Sender {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none' ? site : 'other'
  const origin = request.headers.get('origin')
  if (origin === null) return 'unsaid'
  return /^https?:\/\/(.+)$/.exec(origin)?.[1] === hostOf(request) ? 'same-origin' : 'other'
}

function crossSite(message: string): HttpError {
  return new HttpError('CROSS_SITE', message)
}
