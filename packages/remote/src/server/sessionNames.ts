/**
 * Names a client's worker sessions inside the engine. The name there is a digest of the client's token and of the uuid that the client
 * says, so a client reaches only sessions that its own token has opened, also after a restart and through another server.
 */
import { createHash } from 'node:crypto'
import type { Command, CommandOf, Delivery } from '@millrace/core'

export class SessionNames {
  readonly #owner: string | undefined
  /** The client's uuids by their names inside. */
  readonly #outside = new Map<string, string>()

  /** @param owner the token's owner; undefined if the server has no tokens, so that the names stay as they are */
  constructor(owner: string | undefined) {
    this.#owner = owner
  }

  /** The number of sessions that have attached and not left. */
  get size(): number {
    return this.#outside.size
  }

  /** The names inside the engine of the sessions that have attached and not left. */
  get inside(): readonly string[] {
    return [...this.#outside.keys()]
  }

  /** Returns the command as the engine gets it. */
  translate(command: Command): Command {
    switch (command.op) {
      case 'attach': {
        const { session } = command
        const uuid = this.#nameOf(session.uuid)
        this.#outside.set(uuid, session.uuid)
        return this.#owner === undefined ? command : { ...command, session: { ...session, uuid } }
      }
      case 'leave': {
        const named = this.#named(command)
        this.#outside.delete(named.session)
        return named
      }
      case 'adjust':
      case 'drain':
        return this.#named(command)
      default:
        return command
    }
  }

  /** Returns a delivery of the engine as the client gets it. */
  deliver(delivery: Delivery): Delivery {
    const { grants, notices } = delivery
    if (this.#owner === undefined || grants.length + notices.length === 0) return delivery
    return {
      ...delivery,
      grants: grants.map((grant) => ({ ...grant, session: this.#uuidOf(grant.session) })),
      notices: notices.map((notice) => ('session' in notice ? { ...notice, session: this.#uuidOf(notice.session) } : notice)),
    }
  }

  #named(command: CommandOf<'adjust' | 'drain' | 'leave'>): CommandOf<'adjust' | 'drain' | 'leave'> {
    return { ...command, session: this.#nameOf(command.session) }
  }

  #nameOf(uuid: string): string {
    if (this.#owner === undefined) return uuid
    return createHash('sha256').update(`session\0${this.#owner}\0${uuid}`).digest('base64url')
  }

  /** Returns the client's uuid. A session that has left is unknown to the client, too. */
  #uuidOf(name: string): string {
    return this.#outside.get(name) ?? name
  }
}
