/** Bugs in flows. */
import type { Canary } from './canary.ts'

const flows = 'packages/core/src/kernel/flows'

export const FLOWS: readonly Canary[] = [
  {
    name: 'released-by-the-first-parent',
    file: 'packages/core/src/kernel/records/flowState.ts',
    find: 'failed > 0 : pending === 0',
    replace: 'failed > 0 : pending <= 1',
    breaks: 'invariant 26',
  },
  {
    name: 'children-behind-a-slice-forgotten',
    file: `${flows}/propagate.ts`,
    find: 'if (!done && last !== undefined) return',
    replace: 'if (!done && last === undefined) return',
    breaks: 'invariant 20',
  },
  {
    name: 'parent-failure-ignored',
    file: 'packages/core/src/kernel/records/flowState.ts',
    find: "failed > 0 && (onFailure === 'fail'",
    replace: "failed > 1 && (onFailure === 'fail'",
    breaks: 'invariant 26',
  },
  {
    name: 'joined-by-a-run-that-is-over',
    file: `${flows}/join.ts`,
    find: '  if (job === undefined) return staleRun(turn, command, sender)\n',
    replace: `  if (job === undefined) {
    const place = { first: tables.nextSeq, ref: '', parents: 0, children: false, onFailure: 'continue' } as const
    for (const each of command.jobs) createInFlow(turn, each, place)
    return staleRun(turn, command, sender)
  }
`,
    breaks: 'invariant 26',
  },
  {
    name: 'wait-ends-with-the-first-joined',
    file: `${flows}/join.ts`,
    find: 'pending: jobs, failed: 0',
    replace: 'pending: 1, failed: 0',
    breaks: 'invariant 26',
  },
  {
    name: 'second-join-counted-in-memory-alone',
    file: `${flows}/join.ts`,
    find: '    setDependencies(turn, known, COUNTER_PENDING)\n',
    replace: '    known.state = COUNTER_PENDING\n',
    breaks: 'invariant 26',
  },
  {
    name: 'joined-failures-end-the-one-that-waits',
    file: 'packages/core/src/kernel/records/flowState.ts',
    find: "extras?.flow === undefined || extras.flow.joined !== undefined ? 'continue'",
    replace: "extras?.flow === undefined ? 'continue'",
    breaks: 'invariant 26',
  },
  {
    name: 'failure-waits-for-the-last-end',
    file: 'packages/core/src/kernel/records/flowState.ts',
    find: "return onFailureOf(job) === 'run' ? failed > 0 : pending === 0",
    replace: 'return failed >= 0 && pending === 0',
    breaks: 'invariant 26',
  },
  {
    name: 'unneeded-job-stays',
    file: 'packages/core/src/kernel/records/flowState.ts',
    find: "return pending === 0 && failed === 0 ? 'drop' : undefined",
    replace: 'return undefined',
    breaks: 'invariant 26',
  },
]
