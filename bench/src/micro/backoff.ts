/** What does it cost to say when a failed job is tried again? */
import { type Backoff, backoffDelay } from '@millrace/core'
import type { Bench } from 'tinybench'

const KINDS: Readonly<Record<string, Backoff>> = {
  'exponential, ± 20 %': { type: 'exponential', delay: 20_000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 },
  'linear, equal jitter': { type: 'linear', delay: 20_000, jitter: 'equal' },
  fixed: { type: 'fixed', delay: 20_000 },
}

export function backoff(bench: Bench): void {
  for (const [what, kind] of Object.entries(KINDS)) {
    let attempt = 0
    bench.add(what, () => void backoffDelay(kind, (attempt++ % 10) + 1, 0.5))
  }
}
