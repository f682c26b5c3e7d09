/** The durable calls of a job that has recorded nothing, and that sleeps with its first wait. */
import type { StepsLink } from '../steps/replay.ts'

export function noSteps(): StepsLink {
  return {
    recorded: async () => ({ results: [], generation: 0, waits: [] }),
    step: async ({ error }) => error,
    wait: async () => ({ results: [], ended: true }),
  }
}
