/**
 * The messages that each end may send in each state, in one table. Both ends keep one state per connection and check every message
 * against it, sent or received. The drawing and the table in docs/protocol.md mirror it, and a test compares them.
 */
import { WireError } from './errors.ts'
import type { Message, Role } from './message.ts'

export type MessageType = Message['type']

/** The state is `greeting` until the server's welcome, and `closed` from either end's goodbye. */
export type SessionState = 'greeting' | 'open' | 'closed'

type Row = Readonly<Record<MessageType, SessionState | null>>

/** The state that follows, or null if that end may not send the message. */
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
 * Returns the state of the connection once `role` has sent a message of that type.
 *
 * @throws WireError BAD_MESSAGE if it may not
 */
export function nextState(role: Role, state: SessionState, type: MessageType): SessionState {
  const next = ALLOWED[state][role][type]
  if (next === null) throw new WireError('BAD_MESSAGE', `a ${role} sends no ${type} while the connection is ${PHASES[state]}`)
  return next
}

/** True if that end may ever send such a message. */
export function maySend(role: Role, type: MessageType): boolean {
  return ALLOWED.greeting[role][type] !== null || ALLOWED.open[role][type] !== null
}

const PHASES: Readonly<Record<SessionState, string>> = { greeting: 'in its greeting', open: 'open', closed: 'closed' }
