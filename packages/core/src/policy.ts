import type { Backoff } from './backoff.ts'

/** How a job is run and run again, resolved when it is enqueued and fixed from then on. Times in milliseconds. */
export interface Policy {
  /** Hand-outs that count, the first included. */
  readonly maxAttempts: number
  /** No retry begins later than so long after the enqueue; Infinity for none. */
  readonly maxAge: number
  /** From hand-out to the deadline; Infinity for none. */
  readonly timeout: number
  /** What a heartbeat extends the deadline by, and how long a silent remote worker keeps the job; 0: nothing moves the deadline. */
  readonly heartbeatTimeout: number
  readonly backoff: Backoff
  /** What the row stores: null for the defaults, which most jobs have. */
  readonly text: string | null
}

export interface PolicyOptions extends Partial<Omit<Policy, 'text'>> {
  /** What it says is beneath all layers that do not say so: a handler's own values, which a queue's settings replace. */
  readonly weak?: boolean
}

export const DEFAULT_POLICY: Policy = Object.freeze({
  maxAttempts: 4,
  maxAge: Number.POSITIVE_INFINITY,
  timeout: 300_000,
  heartbeatTimeout: 120_000,
  backoff: Object.freeze({ type: 'exponential', delay: 20_000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 }),
  text: null,
})

/** Policies are few and jobs are many: equal ones share one object. Bounded; emptied when full. */
const INTERNED = new Map<string, Policy>()
const INTERNED_MAX = 1_000

/** Merges what is set in the first of `layers` that sets it, the weak ones last, over the defaults. */
export function resolvePolicy(...layers: readonly (PolicyOptions | undefined)[]): Policy {
  let maxAttempts: number | undefined
  let maxAge: number | undefined
  let timeout: number | undefined
  let heartbeatTimeout: number | undefined
  let backoff: Backoff | undefined
  for (const layer of ordered(layers)) {
    if (layer === undefined) continue
    maxAttempts ??= layer.maxAttempts
    maxAge ??= layer.maxAge
    timeout ??= layer.timeout
    heartbeatTimeout ??= layer.heartbeatTimeout
    backoff ??= layer.backoff
  }
  if ((maxAttempts ?? maxAge ?? timeout ?? heartbeatTimeout ?? backoff) === undefined) return DEFAULT_POLICY
  const whole = {
    maxAttempts: maxAttempts ?? DEFAULT_POLICY.maxAttempts,
    // JSON has no Infinity: null stands for it in the row.
    timeout: timeout === undefined ? DEFAULT_POLICY.timeout : Number.isFinite(timeout) ? timeout : null,
    heartbeatTimeout: heartbeatTimeout ?? DEFAULT_POLICY.heartbeatTimeout,
    backoff: backoff ?? DEFAULT_POLICY.backoff,
    ...(maxAge !== undefined && { maxAge }),
  }
  return parsePolicy(JSON.stringify(whole))
}

/** Of most jobs no layer is weak. */
function ordered(layers: readonly (PolicyOptions | undefined)[]): readonly (PolicyOptions | undefined)[] {
  const isWeak = (layer: PolicyOptions | undefined) => layer?.weak === true
  return layers.some(isWeak) ? [...layers.filter((layer) => !isWeak(layer)), ...layers.filter(isWeak)] : layers
}

/** What somebody has broken is as if it had not been set: one row is no reason for all others to wait. */
function decode(text: string): Policy {
  try {
    const { maxAttempts, maxAge, timeout, heartbeatTimeout, backoff } = JSON.parse(text)
    const [age, runs] = [maxAge ?? Number.POSITIVE_INFINITY, timeout ?? Number.POSITIVE_INFINITY]
    return { maxAttempts, maxAge: age, timeout: runs, heartbeatTimeout, backoff, text }
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
