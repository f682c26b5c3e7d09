/** Problems that need attention, worst first: a pure function of the API's answers. */
import { failureProblems } from './problems/failures.ts'
import type { Inputs, Problem, Severity } from './problems/problem.ts'
import { queueProblems } from './problems/queues.ts'
import { workerProblems } from './problems/workers.ts'
import { writerProblems } from './problems/writer.ts'

const WEIGHT: Readonly<Record<Severity, number>> = { bad: 0, warn: 1 }

export function problemsOf(inputs: Inputs): readonly Problem[] {
  const all = [...writerProblems(inputs), ...failureProblems(inputs), ...queueProblems(inputs), ...workerProblems(inputs)]
  // The order within one severity stays: sorting is stable.
  return all.toSorted((a, b) => WEIGHT[a.severity] - WEIGHT[b.severity])
}
