/** The definitions in force for enqueues by plain name, the sessions that dispute them, and the names whose jobs have yet to take them. */

import type { Definition, Settling } from './definition.ts'
import type { Loaded } from './rows.ts'
import type { Session } from './session.ts'

export class Definitions {
  /** The definitions in force, by name. Only `set` and `delete` change them. */
  readonly inForce: ReadonlyMap<string, Definition>
  readonly #inForce = new Map<string, Definition>()
  /** Names by the session whose defaults are in force. */
  readonly #bySession = new Map<string, Set<string>>()
  /** Names whose jobs have yet to take a definition that came after them. */
  readonly settling = new Map<string, Settling>()
  /** Names whose jobs are settled while those of others are not. All are served at once, or their order would be lost. */
  readonly settled = new Set<string>()
  /** Living sessions whose own defaults for a name differ from those in force. */
  readonly disputes = new Map<string, ReadonlySet<Session>>()

  constructor({ definitions }: Pick<Loaded, 'definitions'>) {
    this.inForce = this.#inForce
    for (const { name, definition, settling } of definitions) {
      this.set(name, definition)
      if (settling > 0) this.settling.set(name, { before: settling, first: true, left: Number.POSITIVE_INFINITY })
    }
  }

  set(name: string, definition: Definition): void {
    const before = this.#inForce.get(name)
    if (before !== undefined) this.#forget(before.session, name)
    this.#inForce.set(name, definition)
    const names = this.#bySession.get(definition.session)
    if (names === undefined) this.#bySession.set(definition.session, new Set([name]))
    else names.add(name)
  }

  delete(name: string): void {
    const definition = this.#inForce.get(name)
    if (definition === undefined) return
    this.#forget(definition.session, name)
    this.#inForce.delete(name)
  }

  /** Returns the names whose defaults in force come from that session. */
  saidBy(session: string): readonly string[] {
    return [...(this.#bySession.get(session) ?? [])]
  }

  #forget(session: string, name: string): void {
    const names = this.#bySession.get(session)
    names?.delete(name)
    if (names?.size === 0) this.#bySession.delete(session)
  }

  /** True if the name is not served yet. */
  isUnserved(name: string): boolean {
    return this.settling.has(name) || this.settled.has(name)
  }
}
