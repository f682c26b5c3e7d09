/** The sentences of the screens Queues and Queue. */
import { allOf, count, counted, partOf } from '../../format/numbers.ts'

const waits = (jobs: number) => counted(jobs, 'job waits', 'jobs wait')

export const text = {
  filter: 'Filter by name',
  none: 'No queue has this in its name.',
  leftOut: (shown: number, all: number) =>
    `${count(shown)} of ${counted(all, 'queue')}, those with the most jobs. Filter by name for others.`,
  empty: {
    title: 'No queues yet',
    text: 'A queue is made with its first job, or by its first setting.',
  },
  all: {
    pause: 'Pause all…',
    resume: 'Resume all',
    title: 'Pause all queues',
    text: (waiting: number) => `No job of any queue starts until you resume. Running jobs continue. Now ${waits(waiting)}.`,
    confirm: 'Pause all queues',
    done: 'All queues are paused.',
    paused: 'All queues are paused: no job starts.',
  },
  states: 'Jobs of the queue',
  notes: {
    scheduled: 'due later',
    retrying: 'have failed before',
    blocked: 'wait for other jobs',
    failed: 'kept',
    oldest: (oldest: string) => `oldest ${oldest}`,
    noLimit: 'no limit',
    perSecond: (rate: string) => `${rate} per s`,
  },
  slots: (limit: string) => ` / ${limit}`,
  pause: 'Pause',
  resume: 'Resume',
  drain: 'Drain…',
  purge: 'Purge…',
  forget: 'Delete queue…',
  missing: (queue: string) => `There is no queue ${queue}.`,
  tags: { paused: 'paused', draining: 'draining', allPaused: 'all are paused', unserved: 'nobody serves it' },
  why: {
    title: 'Why is it slow?',
    well: 'Nothing holds it back',
    idle: 'No job waits',
    lasts: (backlog: string) => `at the rate of the last 5 min, the backlog lasts ${backlog}`,
    stands: 'no job has ended in the last 5 min',
    checks: {
      starts: 'Starts',
      workers: 'Workers',
      names: 'Names',
      slots: 'Slots',
      rate: 'Rate',
      keys: 'Keys',
      oldest: 'Oldest job',
      failures: 'Failures',
    },
    starts: {
      allPaused: 'All queues are paused.',
      paused: 'The queue is paused.',
      draining: 'The queue drains: it takes no new jobs until it is resumed.',
      some: (names: number, keys: number) =>
        `${[names > 0 ? counted(names, 'job name is', 'job names are') : '', keys > 0 ? counted(keys, 'key is', 'keys are') : ''].filter((part) => part !== '').join(', ')} paused.`,
      open: 'Nothing is paused.',
    },
    workers: {
      none: 'No worker serves the queue.',
      full: (slots: number, workers: number) =>
        `${allOf(slots, 'slot')} taken, of ${counted(workers, 'worker')}: start another worker, or give more slots.`,
      free: (taken: number, slots: number, workers: number) => `${partOf(taken, slots, 'slot')} taken, of ${counted(workers, 'worker')}.`,
    },
    failures: {
      some: (name: string, share: string, more: number) =>
        `${name} fails: ${share}${more > 0 ? `; ${counted(more, 'other name')} too` : ''}.`,
      none: (kept: number) =>
        kept === 0 ? 'No job has failed.' : `No name fails now; ${counted(kept, 'failed job is', 'failed jobs are')} kept.`,
    },
    names: {
      unserved: (name: string, waiting: number, more: number) =>
        `No worker has a handler for ${name}: ${waits(waiting)}${more > 0 ? `; the same for ${counted(more, 'other name')}` : ''}.`,
      served: (names: number) =>
        names === 0 ? 'No job has run since the engine was opened.' : `${counted(names, 'name')}, all of them served.`,
    },
    slots: {
      none: (active: number) => `No limit; ${count(active)} run.`,
      full: (active: number, limit: number) =>
        `${allOf(limit, 'slot')} taken${active > limit ? ` (${count(active)} run)` : ''}: raise the limit if the workers have room.`,
      shared: (active: number, limit: number, name: string) =>
        `${allOf(limit, 'slot')} taken of the shared limit ${name} (${count(active)} run): raise it if the workers have room.`,
      free: (active: number, limit: number) => `${partOf(active, limit, 'slot')} taken.`,
    },
    rate: {
      none: 'No limit of starts.',
      used: (limit: string, rate: string) => `At most ${limit}, and ${rate} per s end: the limit holds jobs back.`,
      free: (limit: string, rate: string) => `At most ${limit}; ${rate} per s end.`,
      left: (tokens: number) => `${counted(tokens, 'job')} may start now.`,
    },
    keys: {
      none: 'No limit of each key.',
      strict: 'Strict order: one job of each key at a time.',
      each: (limit: number) => `${counted(limit, 'job')} of each key at a time.`,
      rate: (limit: string) => `At most ${limit} of each key.`,
      held: 'Jobs wait while slots are free: the keys that wait have all that they may have.',
    },
    oldest: {
      none: 'No job waits.',
      waits: (oldest: string, usual: string | undefined) => `Waits for ${oldest}${usual === undefined ? '' : `, usually ${usual}`}.`,
    },
  },
  names: {
    title: 'Job names',
    none: 'No job has run here since the engine was opened.',
    columns: {
      name: 'Name',
      started: 'Runs',
      failed: 'Failed',
      wait: 'Wait p50',
      waitMost: 'p95',
      run: 'Run p50',
      runMost: 'p95',
      workers: 'Workers',
    },
    unserved: (waiting: number) => `nobody serves it, ${waits(waiting)}`,
    pause: (name: string) => `Pause ${name}`,
    resume: (name: string) => `Resume ${name}`,
  },
  keys: {
    title: 'Keys',
    columns: { key: 'Key', waiting: 'Waiting', running: 'Running' },
    none: 'No key waits or is paused. A key is the concurrencyKey of jobs, such as a customer. It is counted if the queue limits keys.',
    partial: (known: number) => `The list covers only a part of ${counted(known, 'key')}: those known longest.`,
    label: 'Key',
    placeholder: 'acme',
    pauseOther: 'Pause key',
    pause: (key: string) => `Pause ${key}`,
    resume: (key: string) => `Resume ${key}`,
    leftOut: (more: number) => `Not listed: ${count(more)} more paused names and keys.`,
  },
  toggling: {
    title: { pause: (queue: string) => `Pause ${queue}?`, resume: (queue: string) => `Resume ${queue}?` },
    text: {
      pause: (waiting: number) => `No job of the queue starts until you resume it. Running jobs continue. Now ${waits(waiting)}.`,
      resume: (waiting: number) => `Its jobs start again. Now ${waits(waiting)}.`,
    },
    confirm: { pause: 'Pause the queue', resume: 'Resume the queue' },
  },
  draining: {
    title: (queue: string) => `Drain ${queue}`,
    text: 'The queue takes no new jobs until it is resumed, and finishes those that it has. Producers get a QueueDrainingError.',
    confirm: 'Drain',
    done: (queue: string) => `Queue ${queue} drains.`,
  },
  purging: {
    title: (queue: string) => `Purge ${queue}`,
    counting: 'Counting…',
    text: (jobs: number) => `Removes ${counted(jobs, 'job that waits', 'jobs that wait')}, with all data. Nothing brings them back.`,
    none: 'No job waits: there is nothing to remove.',
    states: (state: string, jobs: number) => `${count(jobs)} ${state}`,
    left: (active: number) => `${counted(active, 'job runs and stays', 'jobs run and stay')}.`,
    ended: 'Also jobs that have ended',
    confirm: (jobs: number | undefined) => (jobs === undefined ? 'Purge' : `Purge ${counted(jobs, 'job')}`),
    done: (jobs: number, queue: string) => `${counted(jobs, 'job')} of ${queue} removed.`,
  },
  forgetting: {
    title: (queue: string) => `Delete ${queue}`,
    text: 'Forgets the queue with its settings. Only an empty queue can be deleted: purge it first.',
    confirm: 'Delete queue',
    done: (queue: string) => `Queue ${queue} is deleted.`,
  },
  settings: {
    title: 'Limits and settings',
    save: 'Save',
    reset: 'Undo',
    done: (queue: string) => `Settings of ${queue} are saved.`,
    mine: 'this queue',
    preset: 'default',
    unset: 'default',
    not: {
      count: 'must be a whole number',
      duration: 'must be a duration, such as 500ms, 30s, 5m, 2h or 7d',
      fraction: 'must be a number between 0 and 1, equal or full',
      json: 'must be a JSON object',
      name: 'must be a name of letters, digits and _.:/-',
    },
    wrong: (value: string, wanted: string) => `${wanted}, got ${value}`,
    needs: (other: string) => `needs ${other}`,
    definitions: 'Said by definitions',
    definitionsHint: 'These go before the defaults of the queue, and options of a call before both.',
    saidBy: (worker: string, host: string) => `by ${worker} on ${host}`,
    disputed: 'disputed',
  },
} as const
