/** How the code of each table is run, and which code is not run, and why. */

import type { Row, Table } from './guides.ts'
import { commandOf, exportedName, type GuideWorld, type OptionKind, packageName, setting, type Way } from './guideWorld.ts'

export type Ways = readonly (readonly [name: string, way: Way])[]

/** What the names of a table are, by its heading and the header of its left column. The first that fits counts. */
const NAMES: readonly (readonly [where: RegExp, kinds: readonly Kind[]])[] = [
  [/: (?:state|a row)/, ['state', 'event', 'exportedName', 'call']],
  [/: error/, ['exportedName', 'inHandler']],
  [/: (?:in the processor|in the job)|^In the /, ['inHandler', 'definition', 'node', 'call']],
  [/: of a job/, ['ofJob', 'call']],
  [/^Events.*: (?:Agenda|BullMQ|Graphile Worker)$/, ['event', 'ofJob', 'queue', 'open', 'events', 'setting']],
  [/: option of a child/, ['node']],
  [/schedule: |repeating job: /, ['schedule', 'scheduledJob', 'inHandler', 'exportedName', 'enqueue']],
  [/^Calls|Calls, states/, ['list', 'ofJob', 'exportedName', 'call', 'enqueue']],
  [/^From QueueCTL/, ['command', 'state', 'ofJob']],
  [/^From (?:mininq|node-miniq)/, ['body', 'enqueue', 'definition', 'queue', 'state', 'ofJob', 'setting', 'handler', 'open', 'schedule']],
  [/^From tinybus/, ['state', 'enqueue', 'work', 'ofJob', 'definition', 'call']],
  [/^Names: effectum/, ['enqueue', 'definition', 'work', 'open', 'schedule', 'timezone', 'list', 'ofJob']],
  [/^Workers|^Limits/, ['work', 'queue', 'enqueue', 'definition', 'stop', 'open', 'exportedName', 'handler', 'inHandler']],
  [/^What is missing|^Several/, ['exportedName', 'call', 'enqueue', 'inHandler']],
  [/./, ['enqueue', 'definition', 'queue', 'open', 'work', 'handler', 'ofJob', 'backoff', 'idempotent', 'unique']],
]

type Kind =
  | OptionKind
  | 'call'
  | 'method'
  | 'body'
  | 'route'
  | 'packageName'
  | 'path'
  | 'inHandler'
  | 'ofJob'
  | 'event'
  | 'state'
  | 'exportedName'
  | 'command'
  | 'setting'

/** Cells that say whose option it is. */
const OWNERS: readonly (readonly [cell: RegExp, kind: OptionKind])[] = [
  [/of (?:the|its) queue|of `queues\.configure`/, 'queue'],
  [/of `openEngine`/, 'open'],
  [/of `work`/, 'work'],
]

/** Code that shows by itself how it is run. */
const SHAPES: readonly (readonly [code: RegExp, kinds: readonly Kind[]])[] = [
  [/^(?:GET|POST|PUT|PATCH|DELETE) \//, ['route']],
  [/^millrace |^--/, ['command']],
  [/^@millrace\//, ['packageName']],
  [/^MILLRACE_/, ['setting']],
  [/^\/\w+$/, ['path']],
  [/^(?:worker|schedule|queue|schedules)\.\w+(?:\.\w+)*$/, ['event', 'call']],
  [/^(?:[a-z]+\.)*[a-z]\w*\(|^\(?await /i, ['call', 'inHandler', 'ofJob']],
]

const LITERAL = /^(?:'[^']*'|-?\d[\d_]*|true|false)$/

/** Returns how the code of a row may be run: in one of these ways it must. */
export function waysOf(world: GuideWorld, { heading, theirs }: Table, { cell, codes }: Row, code: string): Ways {
  const shape = SHAPES.find(([pattern]) => pattern.test(code))?.[1]
  const names = NAMES.find(([where]) => where.test(`${heading}: ${theirs}`))?.[1] ?? []
  const owners = OWNERS.filter(([pattern]) => pattern.test(cell)).map(([, kind]) => kind)
  const kinds =
    shape?.concat('method') ??
    (owners.length > 0 && /[:\w]/.test(code)
      ? [...owners, ...names.filter((kind) => kind !== 'enqueue'), 'method' as const]
      : [...names, 'method' as const])
  return kinds.map((kind) => [kind, wayOf(world, kind, (text) => (LITERAL.test(text) ? `${optionOf(theirs, codes)}: ${text}` : text))])
}

/** The option that a value in the same cell belongs to. */
function optionOf(theirs: string, codes: readonly string[]): string {
  const named = /`(\w+)` of the job that waits/.exec(theirs)?.[1]
  if (theirs.startsWith('option of a child')) return 'onParentFailure'
  return named ?? codes.flatMap((code) => /^(\w+)(?::|$)/.exec(code)?.[1] ?? []).at(0) ?? 'unnamed'
}

function wayOf(world: GuideWorld, kind: Kind, whole: (code: string) => string): Way {
  switch (kind) {
    case 'call':
    case 'body':
    case 'method':
    case 'inHandler':
    case 'ofJob':
    case 'event':
    case 'state':
    case 'route':
    case 'path':
      return world[kind]
    case 'exportedName':
      return exportedName
    case 'command':
      return commandOf(['enqueue', 'worker start', 'config set', 'serve'])
    case 'setting':
      return setting
    case 'packageName':
      return packageName
    default:
      return (code) => world.option(kind)(whole(code))
  }
}

interface NotRun {
  readonly page?: string
  readonly code: string | RegExp
  readonly because: string
}

const THEIRS = 'a name of the other queue, which the cell compares'
const WORDS = 'words in a string: the schedules of the section show it'
const ANSWER = 'of a request or an answer: packages/http and packages/webhooks test it'

/** Code that is not run. Each entry is needed: a test fails if one is not. */
export const NOT_RUN: readonly NotRun[] = [
  { page: 'docs/migrate/agenda.md', code: 'event.name', because: 'a field of an event: the listener of the section reads it' },
  { page: 'docs/migrate/bullmq.md', code: 'failedReason', because: THEIRS },
  { page: 'docs/migrate/pg-boss.md', code: /^(?:retryCount \+ 1|startAfter)$/, because: THEIRS },
  { page: 'docs/migrate/bullmq.md', code: 'queue:id', because: WORDS },
  { page: 'docs/migrate/pg-boss.md', code: /^(?:name:key|L|1#2)$/, because: WORDS },
  { page: 'docs/migrate/graphile-worker.md', code: '{ id, at }', because: 'the value of a field: packages/core tests schedules' },
  {
    page: 'docs/migrate/graphile-worker.md',
    code: /^SELECT /,
    because: 'it needs a server: test/postgres/snippets.test.ts runs this function',
  },
  {
    page: 'docs/migrate/graphile-worker.md',
    code: 'drain()',
    because: 'a method of the test engine, which other rows use: docs/testing.md runs it',
  },
  { page: 'docs/migrate/small-queues.md', code: /^(?:Idempotency-Key|millrace-(?:job-id|attempt|queue)|text\/plain|#)$/, because: ANSWER },
  { page: 'docs/migrate/small-queues.md', code: /^(?:application\/problem\+json|code|\{ status, headers.*)$/, because: ANSWER },
  { page: 'docs/migrate/small-queues.md', code: /^\{ "job"/, because: ANSWER },
  {
    page: 'docs/migrate/small-queues.md',
    code: /^(?:\/v1|\/pause|\/stop|DELETE)$/,
    because: 'a part of a route, which mentions.test.ts knows whole',
  },
  {
    page: 'docs/migrate/small-queues.md',
    code: /^(?:admin|MILLRACE_\*|millrace\.config\.toml)$/,
    because: 'a scope, all variables, and a file',
  },
]
