/** Decides who may call what, by the token or its session, its scopes, its rate, and the address that tries tokens. */
import { type Clock, ForbiddenError, type Logger, tooManyWrongTokens, WrongTokens } from '@millrace/core'
import { HttpError, rateLimited } from '../errors.ts'
import type { HttpSettings } from '../options.ts'
import type { Sessions } from '../session/sessions.ts'
import { addressOf } from './address.ts'
import { ANYONE, type Caller, type Demand } from './caller.ts'
import { hostCheckOf } from './hosts.ts'
import { refuseByCookie, refuseOtherPages, refuseOtherSites } from './origin.ts'
import { Rates } from './rates.ts'

/** If a server does not say where requests come from, all wrong tokens count together. */
const UNKNOWN = 'unknown'

/** A request that was let in. */
export interface Admitted {
  readonly caller: Caller
  /** The `Set-Cookie` that renews the caller's session. */
  readonly renewal?: string | undefined
}

export class Access {
  readonly #read: HttpSettings['authenticate']
  readonly #wrong: WrongTokens
  readonly #rates: Rates | undefined
  readonly #logger: Logger | undefined
  readonly #sessions: Sessions
  /** Throws for a request to a host that is not allowed. */
  readonly #checkHost: (request: Request) => void
  readonly #listeners = new Set<() => void>()

  constructor(settings: HttpSettings, sessions: Sessions, clock: Clock) {
    const { authenticate, rate, logger } = settings
    this.#read = authenticate
    this.#checkHost = hostCheckOf(settings)
    this.#sessions = sessions
    this.#logger = logger
    this.#wrong = new WrongTokens(clock)
    this.#rates = rate && new Rates(rate, clock)
    settings.tokens?.onChange?.(() => this.#tell())
  }

  /** Calls the listener when tokens or sessions may have ended: then ask `still`. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Lets a request in, by a promise only if `authenticate` is asynchronous. A token in the header goes before a session.
   *
   * @throws HttpError 401, 403, 429
   */
  enter(request: Request, env: unknown): Admitted | Promise<Admitted> {
    this.#checkHost(request)
    if (this.#read === undefined) {
      refuseOtherSites(request)
      return { caller: this.#counted(ANYONE) }
    }
    const token = tokenOf(request)
    if (token !== undefined) return andThen(this.#read(token), (caller) => ({ caller: this.#known(caller, env) }))
    const session = this.#sessions.of(request)
    if (session === undefined) throw unknownToken('there is no token, and no session: send Authorization: Bearer TOKEN, or log in')
    refuseByCookie(request)
    return andThen(this.#read(session.token), (caller) => ({
      caller: this.#remembered(caller),
      renewal: this.#sessions.renewed(session),
    }))
  }

  /**
   * Begins a session, and returns its cookie as `Set-Cookie` has it.
   *
   * @throws HttpError 401, 403, 429, 501
   */
  async logIn(request: Request, env: unknown, token: string): Promise<string> {
    this.#checkHost(request)
    refuseOtherPages(request)
    if (this.#read === undefined) throw new HttpError('UNSUPPORTED', 'this API is open: it needs no token, and has no sessions')
    this.#known(await this.#read(token), env)
    return this.#sessions.begin(token, isSecure(request))
  }

  /** Ends the session of a request, and returns what removes its cookie, as `Set-Cookie` has it. @throws HttpError 403 */
  logOut(request: Request): string {
    this.#checkHost(request)
    refuseOtherPages(request)
    const removal = this.#sessions.end(request)
    this.#tell()
    return removal
  }

  /** @throws ForbiddenError */
  demand(caller: Caller, scope: Demand): void {
    if (scope === 'any' || caller.scopes.includes(scope)) return
    throw new ForbiddenError(`this needs the scope '${scope}', and the token has ${caller.scopes.join(', ') || 'none'}`)
  }

  /** True if the caller would still be admitted, for an answer that continues. Counts as no request, and as no wrong token. */
  async still(request: Request, scope: Demand): Promise<boolean> {
    if (this.#read === undefined) return true
    try {
      const caller = await this.#read(tokenOf(request) ?? this.#sessions.of(request)?.token ?? '')
      return caller !== undefined && (scope === 'any' || caller.scopes.includes(scope))
    } catch {
      // The reader connects again, and then gets the reason.
      return false
    }
  }

  /** Admits a good token, whatever others have sent from its address. */
  #known(caller: Caller | undefined, env: unknown): Caller {
    if (caller !== undefined) return this.#counted(caller)
    const address = addressOf(env) ?? UNKNOWN
    const wrong = this.#wrong.add(address)
    if (wrong.kind === 'limit') this.#logger?.warn(...tooManyWrongTokens(address, wrong))
    if (wrong.kind === 'beyond' && wrong.blockedMs > 0) throw rateLimited('too many wrong tokens from this address', wrong.blockedMs)
    throw unknownToken('the token is not known')
  }

  /** Admits the caller of a session. A token that was revoked since the log-in is no guess, and counts as none. */
  #remembered(caller: Caller | undefined): Caller {
    if (caller === undefined) throw unknownToken('the token of this session is not valid any more: log in again')
    return this.#counted(caller)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  #counted(caller: Caller): Caller {
    const waitMs = this.#rates?.take(caller.name) ?? 0
    if (waitMs > 0) throw rateLimited('this token has called as often as it may: rateLimit', waitMs)
    return caller
  }
}

/** Continues at once unless the caller is a promise. */
function andThen<Next>(caller: Caller | undefined | Promise<Caller | undefined>, next: (caller: Caller | undefined) => Next) {
  return caller instanceof Promise ? caller.then(next) : next(caller)
}

function tokenOf({ headers }: Request): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
}

/** True if the browser is connected by TLS, to this server or to a proxy before it: it says so as the origin of its page. */
function isSecure({ url, headers }: Request): boolean {
  return url.startsWith('https:') || headers.get('origin')?.startsWith('https:') === true
}

function unknownToken(message: string): HttpError {
  return new HttpError('AUTH_FAILED', message, {}, { 'www-authenticate': 'Bearer realm="millrace"' })
}
