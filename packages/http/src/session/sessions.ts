/**
 * Sessions of browsers: the cookie holds the token, sealed. Each request opens it, so a revoked token ends all of its sessions. Only the
 * ids of sessions that were ended before their time are kept: by the store of tokens, or else until the process ends.
 */
import { createHmac } from 'node:crypto'
import { BOUNDS } from '../limits.ts'
import type { TokenStore } from '../tokens.ts'
import { derived, Seal } from './seal.ts'

export interface Session {
  readonly token: string
  /** The id of the log-in, which stays when its cookie is renewed: a mark of its token, a dot and random characters. */
  readonly id: string
  /** The time of the log-in. */
  readonly begunAt: number
  /** The time when this cookie was made: at the log-in, or when the session was last renewed. */
  readonly sealedAt: number
  /** True if the browser logged in over TLS. */
  readonly secure: boolean
}

export interface SessionOptions {
  readonly secret: Uint8Array
  readonly basePath: string
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number
  /** Returns random bytes. */
  readonly newBytes: (bytes: number) => Uint8Array
  /** Keeps the ids of sessions that have ended. Default: this process. */
  readonly ended?: EndedSessions
}

export interface EndedSessions {
  /** @param until the time when the session would have ended, in milliseconds since 1970 */
  add(id: string, until: number): void
  has(id: string): boolean
}

/** Keeps ids in this process. Beyond a number, the token with the most gives up its earliest: log-outs with one token bring back no other's. */
class EndedHere implements EndedSessions {
  readonly #byToken = new Map<string, Set<string>>()
  #size = 0

  add(id: string): void {
    if (this.has(id)) return
    const token = tokenMarkOf(id)
    this.#byToken.set(token, (this.#byToken.get(token) ?? new Set()).add(id))
    this.#size++
    if (this.#size > BOUNDS.sessionsEnded) this.#forget()
  }

  has(id: string): boolean {
    return this.#byToken.get(tokenMarkOf(id))?.has(id) === true
  }

  #forget(): void {
    const [token, ids] = [...this.#byToken].reduce((most, each) => (each[1].size > most[1].size ? each : most))
    ids.delete(ids.values().next().value as string)
    if (ids.size === 0) this.#byToken.delete(token)
    this.#size--
  }
}

function tokenMarkOf(id: string): string {
  return id.slice(0, id.indexOf('.') + 1)
}

/**
 * Returns the part of a store of tokens that keeps ended sessions; undefined if it keeps none. This process keeps them, too: a store that cannot
 * be written fails the log-out, and the session has ended here all the same.
 */
export function endedIn(tokens: TokenStore | undefined): EndedSessions | undefined {
  if (tokens?.endSession === undefined || tokens.isEnded === undefined) return undefined
  const here = new EndedHere()
  return {
    add: (id, until) => {
      here.add(id)
      tokens.endSession?.(id, new Date(until))
    },
    has: (id) => here.has(id) || tokens.isEnded?.(id) === true,
  }
}

/** The random bytes of the id of a log-in. */
const ID_BYTES = 16
/** The bytes of the mark of a token in the id of its log-ins. */
const MARK_BYTES = 12
/** The bytes of a secret's mark in the name of its cookie. */
const NAME_BYTES = 4

export class Sessions {
  /**
   * The name of the cookie. Cookies know no ports, so servers of one host have names of their own: the name follows from the secret, and
   * stays as long as that.
   */
  readonly cookieName: string
  readonly #seal: Seal
  readonly #markKey: Uint8Array
  readonly #path: string
  readonly #now: () => number
  readonly #newBytes: (bytes: number) => Uint8Array
  /** The ids of log-ins that have ended while their cookies could still be opened. */
  readonly #ended: EndedSessions

  constructor({ secret, basePath, now, newBytes, ended = new EndedHere() }: SessionOptions) {
    this.#ended = ended
    this.cookieName = `millrace_${Buffer.from(derived(secret, 'millrace session: name', NAME_BYTES)).toString('hex')}`
    this.#seal = new Seal(secret, newBytes)
    this.#markKey = derived(secret, 'millrace session: token', 32)
    this.#path = basePath === '' ? '/' : basePath
    this.#now = now
    this.#newBytes = newBytes
  }

  /** Begins a session, and returns its cookie as `Set-Cookie` has it. */
  begin(token: string, secure: boolean): string {
    const now = this.#now()
    const mark = createHmac('sha256', this.#markKey).update(token).digest().subarray(0, MARK_BYTES)
    const id = `${mark.toString('base64url')}.${Buffer.from(this.#newBytes(ID_BYTES)).toString('base64url')}`
    return this.#cookieOf({ token, id, begunAt: now, sealedAt: now, secure })
  }

  /** Returns the session of a request; undefined if it has none, or one that is over. */
  of(request: Request): Session | undefined {
    return this.#allOf(request)[0]
  }

  /** Returns a new cookie for the session if its cookie is old enough, as `Set-Cookie` has it. */
  renewed(session: Session): string | undefined {
    const now = this.#now()
    return now - session.sealedAt < BOUNDS.sessionRenewMs ? undefined : this.#cookieOf({ ...session, sealedAt: now })
  }

  /** Ends the sessions of a request, copies of their cookies included, and returns what removes the cookie, as `Set-Cookie` has it. */
  end(request: Request): string {
    // A copy of the cookie may have been renewed since.
    for (const { id, begunAt } of this.#allOf(request)) this.#ended.add(id, begunAt + BOUNDS.sessionMs)
    return this.#setting('', 0, false)
  }

  #allOf({ headers }: Request): readonly Session[] {
    return cookiesOf(headers.get('cookie'), this.cookieName).flatMap((sealed) => {
      const text = this.#seal.open(sealed)
      const session = text === undefined ? undefined : (JSON.parse(text) as Session)
      return session !== undefined && this.#leftMs(session) > 0 && !this.#ended.has(session.id) ? [session] : []
    })
  }

  #cookieOf(session: Session): string {
    return this.#setting(this.#seal.close(JSON.stringify(session)), this.#leftMs(session), session.secure)
  }

  #leftMs({ begunAt, sealedAt }: Session): number {
    return Math.min(sealedAt + BOUNDS.sessionIdleMs, begunAt + BOUNDS.sessionMs) - this.#now()
  }

  #setting(value: string, leftMs: number, secure: boolean): string {
    const maxAgeS = Math.ceil(leftMs / 1_000)
    return `${this.cookieName}=${value}; Max-Age=${maxAgeS}; Path=${this.#path}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }
}

/** Returns the values of the cookies of that name: a browser may have one for each path. */
function cookiesOf(header: string | null, name: string): readonly string[] {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
