/** Bugs in what handlers remember. */
import type { Canary } from './canary.ts'

const kernel = 'packages/core/src/kernel'
const order = 'packages/worker/src/steps/order.ts'
const replay = 'packages/worker/src/steps/replay.ts'

export const STEPS: readonly Canary[] = [
  {
    name: 'a-result-of-a-stale-run',
    file: `${kernel}/steps/step.ts`,
    find: '  const job = runOf(turn, command, sender)\n',
    replace: '  const job = turn.tables.jobs.get(command.seq)\n',
    breaks: 'invariant 60',
  },
  {
    name: 'attempts-go-on-after-a-result',
    file: `${kernel}/steps/step.ts`,
    find: '    job.uncounted = job.run - 1\n',
    replace: '',
    breaks: 'invariant 64',
  },
  {
    name: 'the-time-of-a-run-goes-on-after-a-result',
    file: `${kernel}/steps/step.ts`,
    find: 'now.mono + timeout > job.deadlineMono)',
    replace: 'now.mono + timeout < job.deadlineMono)',
    breaks: 'invariant 14',
  },
  {
    name: 'the-age-of-a-job-goes-on-while-it-sleeps',
    file: `${kernel}/jobs/results.ts`,
    find: '  noteResult(turn, job)\n',
    replace: '',
    breaks: 'invariant 16',
  },
  {
    name: 'a-sleep-that-uses-an-attempt',
    file: `${kernel}/jobs/transitions.ts`,
    find: '  job.uncounted = job.run\n  again(',
    replace: '  again(',
    breaks: 'invariant 64',
  },
  {
    name: 'a-sleeper-keeps-its-slot',
    file: `${kernel}/jobs/end.ts`,
    find: '  freeSlot(turn, job)\n  transition.wait(',
    replace: '  transition.wait(',
    breaks: 'invariant 64',
  },
  {
    name: 'a-sleep-begins-again-with-each-run',
    file: `${kernel}/steps/wait.ts`,
    find: 'if (!open.has(name)) open.set(',
    replace: 'open.set(',
    breaks: 'invariant 63',
  },
  {
    name: 'a-wait-that-nobody-hears-of',
    file: `${kernel}/steps/wait.ts`,
    find: '(extras?.steps?.waiting?.recorded ?? 0) > settled',
    replace: 'settled < 0 && extras !== undefined',
    breaks: 'invariant 60',
  },
  {
    name: 'a-retry-wakes-a-sleeper',
    file: `${kernel}/jobs/retry.ts`,
    find: 'if (!mayResume(job)) return scheduled(',
    replace: 'if (!mayResume(job) && !isAsleep(job)) return scheduled(',
    breaks: 'invariant 63',
  },
  {
    name: 'a-call-that-replaces-wakes-a-sleeper',
    file: `${kernel}/jobs/enqueue.ts`,
    find: 'if (known === undefined || !hasBegun(known)) continue',
    replace: 'if (known === undefined || known.state !== ACTIVE) continue',
    breaks: 'invariant 63',
  },
  {
    name: 'a-failed-step-is-kept-over-a-retry',
    file: `${kernel}/jobs/retry.ts`,
    find: '  rewind(turn, job, from)\n  settleRevived',
    replace: '  settleRevived',
    breaks: 'invariant 60',
  },
  {
    name: 'what-came-after-a-step-is-kept-over-its-retry',
    file: 'packages/sqlite/src/write/steps.ts',
    find: '(number = ? OR asked > ? OR',
    replace: '(number = ? OR asked < -? OR',
    breaks: 'invariant 60',
  },
  {
    name: 'a-key-that-stays-the-same-after-a-retry-from-the-start',
    file: `${kernel}/jobs/rewind.ts`,
    find: '(steps.generation ?? 0) + 1',
    replace: 'steps.generation ?? 0',
    breaks: 'invariant 60',
  },
  {
    name: 'a-deleted-job-leaves-results',
    file: 'packages/sqlite/src/write/delete-jobs.ts',
    find: 'extras?.steps !== undefined)',
    replace: 'extras?.steps?.waiting !== undefined)',
    breaks: 'invariant 65',
  },
  {
    name: 'a-result-out-of-its-order',
    file: order,
    find: 'entry.isCommitted && missing < entry.asked',
    replace: 'entry.isCommitted',
    breaks: 'invariant 61',
  },
  {
    name: 'a-result-before-its-commit',
    file: order,
    find: 'entry.call !== undefined && entry.isCommitted && ',
    replace: 'entry.call !== undefined && ',
    breaks: 'invariant 60',
  },
  {
    name: 'a-result-while-waits-are-sent',
    file: replay,
    find: '    if (this.#isWaitSent) await new Promise<void>((resolve) => this.#unsent.push(resolve))\n',
    replace: '',
    breaks: 'invariant 60',
  },
  {
    name: 'a-step-is-asked-for-once-more',
    file: replay,
    find: '    const entry = this.#order.named(call.name)\n',
    replace: '    const entry = call.name.length % 5 === 0 ? undefined : this.#order.named(call.name)\n',
    breaks: 'invariant 60',
  },
  {
    name: 'changed-for-a-job-of-before',
    file: replay,
    find: 'if (this.#order.missed() === undefined) void',
    replace: 'if (this.#order.missed() === undefined || name !== undefined) void',
    breaks: 'invariant 61',
  },
]
