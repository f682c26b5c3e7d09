/**
 * Who may say what when, in one table. Both ends keep one state per connection and put every message through it, those they
 * send and those they get; the drawing and the table in docs/protocol.md mirror it, and a test holds them against each other.
 */
import { WireError } from './errors.ts'
import type { Message, Role } from './message.ts'

export type MessageType = Message['type']

/** `greeting` until the server's welcome, `closed` from either end's goodbye. */
export type SessionState = 'greeting' | 'open' | 'closed'

type Row = Readonly<Record<MessageType, SessionState | null>>

/** The state that follows, or null where that end may not say it. */
export const ALLOWED: Readonly<Record<SessionState, Readonly<Record<Role, Row>>>> = {
  greeting: {
    // The server answers at once, so there is no state between the two.
    client: { hello: 'greeting', welcome: null, requests: null, delivery: null, ping: null, pong: null, goodbye: 'closed' },
    server: { hello: null, welcome: 'open', requests: null, delivery: null, ping: null, pong: null, goodbye: 'closed' },
  },
  open: {
    client: { hello: null, welcome: null, requests: 'open', delivery: null, ping: 'open', pong: 'open', goodbye: 'closed' },
    server: { hello: null, welcome: null, requests: null, delivery: 'open', ping: 'open', pong: 'open', goodbye: 'closed' },
  },
  closed: {
    client: { hello: null, welcome: null, requests: null, delivery: null, ping: null, pong: null, goodbye: null },
    server: { hello: null, welcome: null, requests: null, delivery: null, ping: null, pong: null, goodbye: null },
  },
}

/**
 * The state of the connection once `role` has said a message of that type.
 *
 * @throws WireError BAD_MESSAGE where it may not
 */
export function nextState(role: Role, state: SessionState, type: MessageType): SessionState {
  const next = ALLOWED[state][role][type]
  if (next === null) throw new WireError('BAD_MESSAGE', `a ${role} sends no ${type} while the connection is ${PHASES[state]}`)
  return next
}

/** Whether that end may say it at all. */
export function maySend(role: Role, type: MessageType): boolean {
  return ALLOWED.greeting[role][type] !== null || ALLOWED.open[role][type] !== null
}

const PHASES: Readonly<Record<SessionState, string>> = { greeting: 'in its greeting', open: 'open', closed: 'closed' }
