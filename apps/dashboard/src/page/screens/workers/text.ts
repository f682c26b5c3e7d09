/** The sentences of the screen Workers. */
import { count, counted } from '../../format/numbers.ts'

export const text = {
  columns: { worker: 'Worker', host: 'Host', slots: 'Slots', names: 'Job names', attached: 'Attached', seen: 'Seen', actions: 'Actions' },
  empty: {
    title: 'No worker is attached',
    text: 'Jobs wait until a worker serves their names. A worker is a process that calls engine.work with its handlers.',
  },
  sum: (workers: number, running: number, slots: number) =>
    `${counted(workers, 'worker')}, ${count(running)} of ${counted(slots, 'slot')} taken`,
  tags: { away: 'away', stopping: 'stopping', zombies: (runs: number) => counted(runs, 'zombie') },
  host: (host: string, pid: number) => `${host} · ${pid}`,
  stop: 'Stop…',
  stopping: {
    title: (worker: string) => `Stop ${worker}`,
    text: (jobs: number) =>
      `It takes no more jobs, finishes ${counted(jobs, 'job')} that it runs, and leaves. Nothing starts it again from here.`,
    wait: 'Wait for them',
    waits: { null: 'as long as it takes', '5m': '5 min', '30s': '30 s' },
    later: 'Jobs that still run then are aborted and given back: no attempt is used.',
    confirm: (worker: string) => `Stop ${worker}`,
    done: (worker: string) => `${worker} stops after its jobs.`,
  },
  beside: 'Worker',
  facts: {
    host: 'Host',
    pid: 'Process',
    names: 'Job names',
    queues: 'Queues',
    slots: 'Slots',
    pools: 'Pools',
    attached: 'Attached',
    seen: 'Seen',
  },
  allQueues: 'all',
  slots: (running: number, slots: number) => `${count(running)} of ${count(slots)} taken`,
  pools: (pools: number) => `${counted(pools, 'session')}: its own handlers and its pools of threads`,
  zombies: (runs: number) => `${counted(runs, 'run')} ignored the abort and may still be working. Restart the process to end them.`,
  away: 'Its connection is lost or silent. It holds its jobs until their leases end.',
  runs: 'Runs now',
  idle: 'It runs no job.',
  since: 'since',
  more: (shown: number) => `The newest ${count(shown)} of more.`,
  gone: (worker: string) => `${worker} is not attached any more.`,
} as const
