/** Sentences of one job, which the list, its page and the errors share. */
import { count, counted } from '../format/numbers.ts'

export const JOB_TEXT = {
  actions: {
    retry: 'Retry',
    retryNow: 'Retry now',
    cancel: 'Cancel',
    run: 'Run now',
    delete: 'Delete…',
    group: 'Job',
    copyId: 'Copy the id',
    copied: (id: string) => `Copied ${id}.`,
  },
  done: {
    retry: (name: string) => `${name} runs again.`,
    cancel: (name: string) => `${name} is cancelled.`,
    run: (name: string) => `${name} is due now.`,
    delete: (name: string) => `${name} is deleted.`,
  },
  confirm: {
    title: (name: string) => `Delete ${name}?`,
    text: (id: string) => `Job ${id}, its data, its output and its log cannot be brought back.`,
    action: 'Delete',
  },
  payloads: { data: 'Data', output: 'Output', checkpoint: 'Checkpoint' },
  noPayload: { data: 'None.', output: 'None: it has not completed.', checkpoint: 'None.' },
  noOutput: 'None: its handler returned nothing.',
  facts: {
    queue: 'Queue',
    state: 'State',
    priority: 'Priority',
    weight: 'Weight',
    tokens: 'Tokens of its rate',
    runs: 'Runs',
    attempts: 'Attempts',
    backoff: 'Backoff',
    timeout: 'Timeout',
    maxAge: 'Maximum age',
    worker: 'Worker',
    enqueued: 'Enqueued',
    due: 'Due',
    started: 'Started',
    ended: { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' },
    expires: 'Kept until',
    key: 'Key',
    unique: 'Unique',
    idempotency: 'Idempotency',
    flow: 'Flow',
    tags: 'Tags',
    copyOf: 'Copy of',
    progress: 'Progress',
  },
  attempts: (attempt: number, most: number) => (Number.isFinite(most) ? `${count(attempt)} of ${count(most)}` : count(attempt)),
  lastTook: (time: string) => `last took ${time}`,
  otherRuns: (runs: number) => counted(runs, 'run'),
  heartbeat: (time: string) => `heartbeat ${time}`,
  noLimit: 'no limit',
  backoff: (delay: string, factor: number | undefined, most: string | undefined, jitter: string | undefined) =>
    [`${delay}${factor === undefined ? '' : ` × ${factor}`}`, jitter, most === undefined ? undefined : `up to ${most}`]
      .filter((part) => part !== undefined)
      .join(', '),
  jitter: (jitter: number | string) => (typeof jitter === 'number' ? `± ${Math.round(jitter * 100)} %` : `${jitter} jitter`),
} as const
