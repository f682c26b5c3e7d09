/** Decides who may call what, by the token, its scopes, its rate, and the address that tries tokens. */
import { type Clock, ForbiddenError, type Logger, SCOPES, type Scope, tooManyWrongTokens, WrongTokens } from '@millrace/core'
import { HttpError, rateLimited } from '../errors.ts'
import type { HttpSettings } from '../options.ts'
import { addressOf } from './address.ts'
import type { Caller } from './caller.ts'
import { Rates } from './rates.ts'

const ANYONE: Caller = { name: 'anyone', scopes: SCOPES }
/** If a server does not say where requests come from, all wrong tokens count together. */
const UNKNOWN = 'unknown'

export class Access {
  readonly #read: HttpSettings['authenticate']
  readonly #wrong: WrongTokens
  readonly #rates: Rates | undefined
  readonly #logger: Logger | undefined

  constructor({ authenticate, rate, logger }: Pick<HttpSettings, 'authenticate' | 'rate' | 'logger'>, clock: Clock) {
    this.#read = authenticate
    this.#logger = logger
    this.#wrong = new WrongTokens(clock)
    this.#rates = rate && new Rates(rate, clock)
  }

  /**
   * Returns the caller, as a promise only if `authenticate` is asynchronous.
   *
   * @throws HttpError 401, 403, 429
   */
  enter(request: Request, env: unknown): Caller | Promise<Caller> {
    if (this.#read === undefined) {
      refuseCrossSite(request)
      return this.#counted(ANYONE)
    }
    const address = addressOf(env) ?? UNKNOWN
    const token = tokenOf(request)
    if (token === undefined) throw unknownToken('there is no token: send Authorization: Bearer TOKEN')
    const caller = this.#read(token)
    return caller instanceof Promise ? caller.then((known) => this.#known(known, address)) : this.#known(caller, address)
  }

  /** @throws ForbiddenError */
  demand(caller: Caller, scope: Scope): void {
    if (caller.scopes.includes(scope)) return
    throw new ForbiddenError(`this needs the scope '${scope}', and the token has ${caller.scopes.join(', ') || 'none'}`)
  }

  /** True if the caller would still be admitted, for an answer that continues. Counts as no request, and as no wrong token. */
  async still(request: Request, scope: Scope): Promise<boolean> {
    if (this.#read === undefined) return true
    try {
      return (await this.#read(tokenOf(request) ?? ''))?.scopes.includes(scope) === true
    } catch {
      // The reader connects again, and then gets the reason.
      return false
    }
  }

  /** Admits a good token, whatever others have sent from its address. */
  #known(caller: Caller | undefined, address: string): Caller {
    if (caller !== undefined) return this.#counted(caller)
    const wrong = this.#wrong.add(address)
    if (wrong.kind === 'limit') this.#logger?.warn(...tooManyWrongTokens(address, wrong))
    if (wrong.kind === 'beyond' && wrong.blockedMs > 0) throw rateLimited('too many wrong tokens from this address', wrong.blockedMs)
    throw unknownToken('the token is not known')
  }

  #counted(caller: Caller): Caller {
    const waitMs = this.#rates?.take(caller.name) ?? 0
    if (waitMs > 0) throw rateLimited('this token has called as often as it may: rateLimit', waitMs)
    return caller
  }
}

/**
 * Refuses requests from pages of other sites if no token is needed. A page that somebody opens could otherwise send changes: a
 * browser sends a POST of plain text without asking, but says where it comes from.
 */
function refuseCrossSite({ method, headers }: Request): void {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const same =
    site === null
      ? origin === null || origin.replace(/^https?:\/\//, '') === headers.get('host')
      : site === 'same-origin' || site === 'none'
  if (!same)
    throw new HttpError(
      403,
      'CROSS_SITE',
      'a page of another site sent this, and no token is needed here: give a token to serve other sites',
    )
}

function tokenOf({ headers }: Request): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
}

function unknownToken(message: string): HttpError {
  return new HttpError(401, 'AUTH_FAILED', message, {}, { 'www-authenticate': 'Bearer realm="millrace"' })
}
