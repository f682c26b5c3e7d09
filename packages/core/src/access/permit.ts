/** The rights of a token: its scopes, and for `work` the jobs that it may serve. */

import type { CheckedForward, NewJob } from '../commands.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { type Command, type Reach, traitsOf } from '../operations.ts'
import { describe } from '../options/describe.ts'
import { nameOption } from '../options/name.ts'
import type { SendCommand } from '../stepCommands.ts'
import { withUnfit } from '../unfit.ts'
import { reservedKey } from './reserved.ts'
import { SCOPES, type Scope, scopesOption } from './scopes.ts'

/** The rights of a token. */
export interface Permit {
  readonly scopes: readonly Scope[]
  /** The token's name in the audit. */
  readonly name?: string
  /**
   * Job names that workers with this token serve, and to whose jobs it sends messages: 1 to 100. Default every name. It restricts only
   * the scopes `work` and `send`.
   */
  readonly names?: readonly string[]
  /** Queues that workers with this token serve, 1 to 100. Default every queue. It restricts only the scope `work`. */
  readonly queues?: readonly string[]
}

const BOUND_MAX = 100

/**
 * Returns a permit read from options, with each name once.
 *
 * @param prefix of the options in errors: '' or 'token[0].'
 * @throws OptionTypeError, OptionRangeError
 */
export function permitOption(prefix: string, { scopes, name, names, queues }: Readonly<Partial<Record<keyof Permit, unknown>>>): Permit {
  const read = scopesOption(`${prefix}scopes`, scopes)
  const bounds = {
    ...(names !== undefined && { names: boundOption(`${prefix}names`, names, read, ['work', 'send']) }),
    ...(queues !== undefined && { queues: boundOption(`${prefix}queues`, queues, read, ['work']) }),
  }
  return { scopes: read, ...(name !== undefined && { name: tokenNameOption(`${prefix}name`, name) }), ...bounds }
}

function tokenNameOption(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new OptionTypeError(option, `${option} must be a string that is not empty, got ${describe(value)}`)
}

function boundOption(option: string, value: unknown, scopes: readonly Scope[], bound: readonly Scope[]): readonly string[] {
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of names, got ${describe(value)}`)
  if (value.length === 0 || value.length > BOUND_MAX) {
    const message = `${option} must have 1 to ${BOUND_MAX} names, got ${value.length}: leave it out to allow all`
    throw new OptionRangeError(option, value.length === 0 ? 1 : BOUND_MAX, message)
  }
  if (!bound.some((scope) => scopes.includes(scope))) {
    const what = bound.length === 1 ? 'the scope' : 'the scopes'
    const message = `${option} binds ${what} ${bound.join(' and ')}, and the scopes are ${scopes.join(', ')}: add ${bound[0]}, or leave it out`
    throw new OptionTypeError(option, message)
  }
  return [...new Set(value.map((name, index) => nameOption(`${option}[${index}]`, name)))]
}

/** True if the permit allows everything, so that no request needs a check. */
export function isUnbounded({ scopes, names, queues }: Permit): boolean {
  return scopes.length === SCOPES.length && names === undefined && queues === undefined
}

/** True if `before` allows something that `after` does not. */
export function allowsLess(after: Permit, before: Permit): boolean {
  return (
    before.scopes.some((scope) => !after.scopes.includes(scope)) ||
    isNarrower(after.names, before.names) ||
    isNarrower(after.queues, before.queues)
  )
}

function isNarrower(after: readonly string[] | undefined, before: readonly string[] | undefined): boolean {
  return after !== undefined && (before === undefined || before.some((name) => !after.includes(name)))
}

/**
 * Returns why a command exceeds what the token may serve, or undefined if it does not. The table of operations says what each one
 * reaches; an operation that does not say so is refused. If the token's queues are restricted, a worker must name its queues. New jobs
 * must be within the limits too, unless the token may enqueue anyway. No token without the scope `admin` sets a reserved key: `forward`
 * has each of its entries refused alone, by `withForbiddenKeys`.
 */
export function outsideOf(permit: Permit, command: Command): string | undefined {
  const { names, queues, scopes } = permit
  const { scopes: enough, reach, newJobs } = traitsOf(command.op)
  const reserved = scopes.includes('admin') ? undefined : reservedOf(command, newJobs?.(command))
  if (reserved !== undefined || (names === undefined && queues === undefined)) return reserved
  // Another scope of the token allows the operation, and no other scope is restricted.
  if (enough.some((scope) => scope !== 'work' && scopes.includes(scope))) return undefined
  if (reach === undefined) return `a token that is bound to job names or queues cannot call '${command.op}': use one that is not bound`
  const outside = outsideReach(permit, reach(command))
  if (outside !== undefined || newJobs === undefined || scopes.includes('enqueue')) return outside
  return firstOf(newJobs(command), (job) => outsideJob(permit, job))
}

/** Returns the command with the entries that set a reserved key, beside those that are known to be unfit. A journal repeats other refusals. */
export function withForbiddenKeys({ scopes }: Permit, command: CheckedForward): CheckedForward {
  if (scopes.includes('admin')) return command
  return withUnfit(command, (jobs) => {
    const message = firstOf(jobs, reservedOfJob)
    return message === undefined ? undefined : { code: 'FORBIDDEN', message }
  })
}

/** Returns the message with the names that bind its sender. */
export function withinNames({ names }: Permit, command: SendCommand): SendCommand {
  return names === undefined ? command : { ...command, only: names }
}

/** Looks at the keys that a command sets: its own, which a flow has, and those of its new jobs, but not those of a `forward`. */
function reservedOf(command: Command, newJobs: readonly NewJob[] = []): string | undefined {
  if (command.op === 'forward') return undefined
  const own = command.op === 'flow' ? reservedKey(command.idempotencyKey) : undefined
  return own ?? firstOf(newJobs, reservedOfJob)
}

const reservedOfJob = ({ idempotencyKey }: NewJob): string | undefined => reservedKey(idempotencyKey)

function outsideReach({ names, queues, scopes }: Permit, reach: Reach): string | undefined {
  if (reach.or !== undefined && scopes.includes(reach.or)) return undefined
  const name = firstOutside(names, reach.names)
  if (name === 'all') return `${allowed('job name', names, 'all of them')}: pause the name of the job alone`
  if (name !== undefined) return allowed('job name', names, `'${name.name}'`)
  const queue = firstOutside(queues, reach.queues)
  if (queue === 'all') return `${allowed('queue', queues, 'all of them')}: name them (\`queues\` of the worker)`
  return queue === undefined ? undefined : allowed('queue', queues, `'${queue.name}'`)
}

function firstOutside(within: readonly string[] | undefined, reached: Reach['names'] = []): 'all' | { readonly name: string } | undefined {
  if (within === undefined) return undefined
  if (reached === 'all') return 'all'
  const name = reached.find((each) => !within.includes(each))
  return name === undefined ? undefined : { name }
}

function outsideJob({ names, queues }: Permit, job: NewJob): string | undefined {
  const { name, queue } = job
  if (names?.includes(name) === false) return allowed('job name', names, `a new job '${name}'`)
  if (queues === undefined) return undefined
  if (queue === undefined || !queues.includes(queue))
    return allowed('queue', queues, `a new job '${name}' ${queue === undefined ? 'that names no queue' : `in '${queue}'`}`)
  if (!mayChangeAnother(job)) return undefined
  return `${allowed('queue', queues, `a new job '${name}' that may change one of another queue`)}: use onConflict 'skip' or 'error', and no debounce`
}

/** True if the new job may change a waiting one. Jobs of one name share their keys, in whatever queue they are. */
function mayChangeAnother({ unique, debounce }: NewJob): boolean {
  return debounce !== undefined || unique?.onConflict === 'replace' || unique?.onConflict === 'reschedule'
}

function allowed(kind: 'job name' | 'queue', within: readonly string[] | undefined, what: string): string {
  return `this token serves the ${kind}${within?.length === 1 ? '' : 's'} ${(within ?? []).map((name) => `'${name}'`).join(', ')} only, not ${what}`
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
