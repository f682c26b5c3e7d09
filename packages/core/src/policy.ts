import type { Backoff } from './backoff.ts'
import { LIMITS } from './limits.ts'

/** How a job runs, is retried and is kept: resolved at its enqueue, and fixed from then on. Times in milliseconds. */
export interface PolicyView {
  /** The number of hand-outs that count, the first included. */
  readonly maxAttempts: number
  /** The number of runs that may lose their worker without using an attempt; undefined: each uses one. */
  readonly maxLost: number | undefined
  /** No retry begins later than this long after the enqueue; Infinity for no limit. */
  readonly maxAge: number
  /** The time from hand-out to the deadline; Infinity for no limit. */
  readonly timeout: number
  /** The time by which a heartbeat extends the deadline, and for which a silent remote worker keeps the job; 0: nothing moves the deadline. */
  readonly heartbeatTimeout: number
  readonly backoff: Backoff
  /** The tokens that each start takes from the rate limits of the job's queue and key. */
  readonly tokens: number
  /** The time for which the job is kept once it has ended; undefined: as its queue's retention says. */
  readonly keep: number | undefined
  /** The newest log lines that each run keeps. */
  readonly logLines: number
}

export interface Policy extends PolicyView {
  /** The policy as the row stores it: null for the defaults, which most jobs have. */
  readonly text: string | null
}

/** The fields in the order in which a row has them. */
export const POLICY_FIELDS = [
  'maxAttempts',
  'timeout',
  'heartbeatTimeout',
  'backoff',
  'maxAge',
  'tokens',
  'maxLost',
  'keep',
  'logLines',
] as const satisfies (keyof PolicyView)[]

export interface PolicyOptions extends Partial<PolicyView> {
  /** True if all other layers override this one: a handler's own values, which a queue's settings replace. */
  readonly weak?: boolean
}

export const DEFAULT_POLICY: Policy = Object.freeze({
  maxAttempts: 4,
  maxLost: undefined,
  maxAge: Number.POSITIVE_INFINITY,
  timeout: 300_000,
  heartbeatTimeout: 120_000,
  backoff: Object.freeze({ type: 'exponential', delay: 20_000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 }),
  tokens: 1,
  keep: undefined,
  logLines: LIMITS.logLinesPerRun,
  text: null,
})

/** Policies are few and jobs are many: equal ones share one object. Bounded; emptied when full. */
const INTERNED = new Map<string, Policy>()
const INTERNED_MAX = 1_000

/** The policies that were resolved last: jobs of one definition follow one another. To write a text takes six times as long. */
const RECENT: Policy[] = []
const RECENT_MAX = 16

/** Merges what is set in the first of `layers` that sets it, the weak ones last, over the defaults. */
export function resolvePolicy(...layers: readonly (PolicyOptions | undefined)[]): Policy {
  if (layers.every(isSilent)) return DEFAULT_POLICY
  const inOrder = ordered(layers)
  const recent = RECENT.find((policy) => POLICY_FIELDS.every((field) => isSame(firstSet(inOrder, field), policy[field])))
  if (recent !== undefined) return recent
  // Defaults are left out, so that equal policies have one text.
  const whole: Record<string, unknown> = {}
  for (const field of POLICY_FIELDS) {
    const value = firstSet(inOrder, field)
    if (!isSame(value, DEFAULT_POLICY[field])) whole[field] = value
  }
  const policy = parsePolicy(JSON.stringify(whole))
  if (RECENT.unshift(policy) > RECENT_MAX) RECENT.pop()
  return policy
}

function firstSet(layers: readonly (PolicyOptions | undefined)[], field: keyof PolicyView): PolicyView[keyof PolicyView] {
  for (const layer of layers) {
    const value = layer?.[field] ?? undefined
    if (value !== undefined) return value
  }
  return DEFAULT_POLICY[field]
}

function isSame(a: PolicyView[keyof PolicyView], b: PolicyView[keyof PolicyView]): boolean {
  if (a === b || typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.type === b.type && a.delay === b.delay && a.factor === b.factor && a.maxDelay === b.maxDelay && a.jitter === b.jitter
}

/** True if a layer sets nothing, as for most jobs. The fields are written out: this is asked for every job (a loop takes 40 ns more). */
function isSilent(layer: PolicyOptions | undefined): boolean {
  if (layer === undefined) return true
  return (
    (layer.maxAttempts ??
      layer.timeout ??
      layer.heartbeatTimeout ??
      layer.backoff ??
      layer.maxAge ??
      layer.tokens ??
      layer.maxLost ??
      layer.keep ??
      layer.logLines) === undefined
  )
}

/** Most jobs have no weak layer. */
function ordered(layers: readonly (PolicyOptions | undefined)[]): readonly (PolicyOptions | undefined)[] {
  const isWeak = (layer: PolicyOptions | undefined) => layer?.weak === true
  return layers.some(isWeak) ? [...layers.filter((layer) => !isWeak(layer)), ...layers.filter(isWeak)] : layers
}

/** A row that somebody has broken gets the default policy: it is no reason for all others to wait. */
function decode(text: string): Policy {
  try {
    const stored = JSON.parse(text)
    // JSON writes Infinity as null.
    const fields = POLICY_FIELDS.map((field) => [
      field,
      field in stored ? (stored[field] ?? Number.POSITIVE_INFINITY) : DEFAULT_POLICY[field],
    ])
    return { ...(Object.fromEntries(fields) as PolicyView), text }
  } catch {
    return { ...DEFAULT_POLICY, text }
  }
}

/** The policy that a row's text says. */
export function parsePolicy(text: string | null): Policy {
  if (text === null) return DEFAULT_POLICY
  const known = INTERNED.get(text)
  if (known !== undefined) return known
  const policy = Object.freeze(decode(text))
  if (INTERNED.size >= INTERNED_MAX) INTERNED.clear()
  INTERNED.set(text, policy)
  return policy
}
