/** What does it cost to stand in line, and to be taken from it: in order, and ahead of others? */
import { DEFAULT_POLICY, WAITING } from '@millrace/core'
import { type Job, newJob, newLane, newQueue, Window } from '@millrace/core/kernel'
import type { Bench } from 'tinybench'

export function line(bench: Bench): void {
  const lane = newLane(1, newQueue(1, 'default'), 'noop')
  const job = (seq: number, priority: number): Job =>
    newJob({ seq, node: 1, enqueuedAt: 0 }, lane, WAITING, { priority, weight: 1, runAt: 0, expiresAt: 0 }, DEFAULT_POLICY, undefined, null)
  for (const [what, priority] of [
    ['in order', 0],
    ['ahead of the others', 1],
  ] as const) {
    const window = new Window()
    let seq = 0
    for (; seq < 900; seq++) window.insert(job(seq, 0))
    bench.add(`insert and take, 900 in line, ${what}`, () => {
      window.insert(job(seq++, priority))
      window.removeFirst()
    })
  }
}
