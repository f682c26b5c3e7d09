/** The calls of one connection that require `admin`, and who made them: an entry for each, as soon as its outcome is known. */
import {
  type Audited,
  boundedTarget,
  type Clock,
  type Command,
  errorFrom,
  formatId,
  OPERATIONS,
  type Operation,
  type Reply,
  type Request,
  type Scope,
  STATES,
  type State,
  statesOf,
} from '@millrace/core'

/** A call over a socket that requires the scope `admin`. */
export interface AuditedCall extends Audited {
  /** The operation's name in docs/protocol.md: `deleteMany`, `backup`. */
  readonly operation: Operation
  /** The code of the error. */
  readonly code?: string
}

type Asked = Pick<AuditedCall, 'at' | 'operation' | 'target'>

/** The fields of a command that say what it is for. */
const COPIED = ['of', 'call', 'queue', 'name', 'key', 'paused', 'worker', 'file', 'limit', 'dryRun', 'reason', 'by'] as const

const NONE: readonly AuditedCall[] = []

/** The scopes whose calls are in the audit: they act on the jobs of others. */
const AUDITED: ReadonlySet<Scope | undefined> = new Set(['admin', 'send'] as const)

export class Trail {
  readonly #clock: Clock
  readonly #asked = new Map<number, Asked>()
  /** The operation and target of the last call: its further slices are a part of it. */
  #last = ''

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns true if the call gets an entry. */
  ask({ id, command }: Request): boolean {
    const { scopes } = OPERATIONS[command.op]
    if (scopes.length > 1 || !AUDITED.has(scopes[0])) return false
    const asked = this.#askedOf(command)
    if (asked !== undefined) this.#asked.set(id, asked)
    return asked !== undefined
  }

  answer(replies: readonly Reply[], who: string): readonly AuditedCall[] {
    if (this.#asked.size === 0) return NONE
    const calls: AuditedCall[] = []
    for (const { id, refusal } of replies) {
      const asked = this.#asked.get(id)
      if (asked === undefined) continue
      this.#asked.delete(id)
      calls.push(
        refusal === undefined ? { ...asked, who, outcome: 'done' } : { ...asked, who, outcome: outcomeOf(refusal), code: refusal.code },
      )
    }
    return calls
  }

  /** Ends the trail when the connection is over: the outcome of unanswered calls is unknown. */
  end(who: string): readonly AuditedCall[] {
    const calls = [...this.#asked.values()].map((asked) => ({ ...asked, who, outcome: 'failed' as const, code: 'CONNECTION_LOST' }))
    this.#asked.clear()
    return calls
  }

  #askedOf(command: Command): Asked | undefined {
    const target = boundedTarget(targetOf(command))
    const call = `${command.op} ${JSON.stringify(target)}`
    if (call === this.#last && isFurtherSlice(command)) return undefined
    this.#last = call
    return { at: new Date(this.#clock.read().wall), operation: command.op, target }
  }
}

/** True if the command continues a call: one call of the client may be many commands in a row. */
function isFurtherSlice(command: Command): boolean {
  return (
    command.op === 'export' || ('before' in command && command.before !== undefined) || ('after' in command && command.after !== undefined)
  )
}

function targetOf(command: Command): AuditedCall['target'] {
  const fields = command as unknown as Readonly<Record<string, unknown>>
  const copied = COPIED.flatMap((field) => (fields[field] === undefined ? [] : [[field, fields[field]] as const]))
  return { ...idOf(command), ...filterOf(command), ...jobOf(command), ...Object.fromEntries(copied) }
}

/** Returns the name of a job. A schedule's command has the whole job, with its payloads. */
function jobOf(command: Command): object {
  if (!('job' in command) || command.job === undefined) return {}
  return { job: typeof command.job === 'string' ? command.job : command.job.name }
}

function idOf(command: Command): object {
  if (!('id' in command)) return {}
  return { id: typeof command.id === 'string' ? command.id : formatId(command.id) }
}

function filterOf(command: Command): object {
  if (!('filter' in command && 'dryRun' in command)) return {}
  const { state: _state, states: _states, ...filter } = command.filter
  const states = statesOf(command.filter)?.map((state) => STATES[state] as State)
  const state = states?.length === 1 ? states[0] : states
  return { filter: { ...filter, ...(state !== undefined && { state }), ...(command.ids && { ids: command.ids.length }) } }
}

function outcomeOf(refusal: NonNullable<Reply['refusal']>): 'refused' | 'failed' {
  return refusal.code === 'INTERNAL' || errorFrom(refusal).retryable ? 'failed' : 'refused'
}
