/** Workers for people. */
import type { WorkerView } from '@millrace/engine'
import type { Paint } from '../output/style.ts'
import type { Column } from '../output/table.ts'

export function workerColumns(paint: Paint): readonly Column<WorkerView>[] {
  return [
    { title: 'ID', text: ({ id }) => id },
    { title: 'PID', text: ({ pid }) => String(pid), right: true },
    { title: 'HOST', text: ({ host }) => host },
    { title: 'STATE', text: (worker) => stateOf(worker, paint) },
    { title: 'RUNS', text: ({ runningJobs, maxConcurrency }) => `${runningJobs}/${maxConcurrency}`, right: true },
    { title: 'QUEUES', text: ({ queues }) => queues?.join(', ') ?? 'all' },
    { title: 'NAMES', text: ({ names }) => names.join(', ') },
  ]
}

function stateOf({ away, draining, runningJobs }: WorkerView, paint: Paint): string {
  if (away) return paint('red', 'away')
  if (draining) return paint('yellow', 'draining')
  return runningJobs > 0 ? paint('cyan', 'busy') : paint('green', 'idle')
}
