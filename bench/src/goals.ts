/** What this project holds itself to, and whether a result keeps it: at least the bound, at best the summit. */
import { FEATURES } from './features.ts'
import { EMPTY, HANDLERS } from './handlers.ts'
import type { Durability } from './measurement.ts'
import { findRow, type Row } from './result.ts'
import { resume, sleepers, steps } from './stepGoals.ts'

export interface Held {
  readonly what: string
  readonly measured: string
  readonly bound: string
  readonly summit: string
  readonly met: boolean
}

/** Nothing where the result has no figure for it. */
type Goal = (rows: readonly Row[]) => readonly Held[]

/** Shares of the limit. */
const OF_LIMIT = {
  endToEnd: { what: 'whole jobs', least: 0.6, summit: 1 },
  bulk: { what: 'bulk enqueue', least: 0.7, summit: 1.2 },
  drain: { what: 'drain', least: 0.6, summit: 1 },
} as const
const TIMES_PEER = { least: 10, summit: 20 } as const
/** The same, with each kind of handler. */
const TIMES_PEER_HANDLER = { least: 20, summit: 20 } as const
const HANDLER_SUMMIT = { ofLimit: 0.9, ofEmpty: 1 } as const
const SUSTAINED = { least: 0.9, summit: 0.95, turnP99Ms: 50 } as const
const IDLE_MICROS = { least: 120, summit: 80 } as const
const GROWTH = { least: 0.9, summit: 0.95 } as const
/** What counts as flat: about what two openings of the same file differ by, and then some. */
const FLAT = { openMs: 50, openMb: 16 } as const
const FREE_KEY_MS = 100
const IDLE_WORKERS = { least: 0.97, mb: 100 } as const
/** With the workers in other processes, of the speed with them in the engine's own. `leastTight` is for as many places as jobs in flight. */
const REMOTE = { least: 0.6, leastTight: 0.75, summit: 0.9 } as const
const DELAY_MS = { host: { least: 5, summit: 4 }, thread: { least: 5, summit: 2 } } as const

const DURABILITIES: readonly Durability[] = ['normal', 'full']

const share = (what: string, value: number, of: string, least: number, summit: number): Held => ({
  what,
  measured: `${value.toFixed(2)} ${of}`,
  bound: `${least}`,
  summit: `${summit}`,
  met: value >= least,
})

const ofLimit: Goal = (rows) =>
  Object.entries(OF_LIMIT).flatMap(([experiment, { what, least, summit }]) =>
    DURABILITIES.flatMap((label) => {
      const ratio = findRow(rows, experiment, 'millrace', label)?.ratio
      return ratio === undefined ? [] : [share(`${what}, \`${label}\``, ratio, 'of the limit', least, summit)]
    }),
  )

const handlers: Goal = (rows) =>
  DURABILITIES.flatMap((durability) => {
    const rowOf = (name: string) => findRow(rows, 'handlers', 'millrace', `${durability}, ${name}`)
    const empty = rowOf(EMPTY)
    return HANDLERS.flatMap(({ name, ofLimit: limitShare, ofEmpty }) => {
      const row = rowOf(name)
      const what = `handler, \`${durability}\`: ${name}`
      if (limitShare !== undefined && row?.ratio !== undefined)
        return [share(what, row.ratio, 'of the limit', limitShare, HANDLER_SUMMIT.ofLimit)]
      if (ofEmpty !== undefined && row !== undefined && empty !== undefined)
        return [share(what, rate(row) / rate(empty), `of ${EMPTY}`, ofEmpty, HANDLER_SUMMIT.ofEmpty)]
      return []
    })
  })

/** Beside what comparing nothing with nothing gives in the same run. */
const features: Goal = (rows) => {
  const shareOf = (feature: string) => findRow(rows, 'features', 'millrace', feature)?.figures['ofNone']
  const none = shareOf('none')
  return Object.entries(FEATURES).flatMap(([feature, { atLeast }]) => {
    const withIt = shareOf(feature)
    if (atLeast === undefined || none === undefined || withIt === undefined) return []
    return [share(feature, withIt / none, 'of none', atLeast, 1)]
  })
}

const sustained: Goal = (rows) =>
  DURABILITIES.flatMap((label) => {
    const long = findRow(rows, 'sustained', 'millrace', label)?.figures
    const short = findRow(rows, 'endToEnd', 'millrace', label)?.figures
    if (long === undefined || short === undefined) return []
    const ratio = (long['jobsPerSecond'] as number) / (short['jobsPerSecond'] as number)
    const turnMs = long['turnP99Ms'] as number
    const turn = {
      what: `sustained, \`${label}\`: turn p99`,
      measured: `${turnMs.toFixed(1)} ms`,
      bound: `under ${SUSTAINED.turnP99Ms} ms`,
      summit: '',
      met: turnMs < SUSTAINED.turnP99Ms,
    }
    return [share(`sustained, \`${label}\``, ratio, 'of the short figure', SUSTAINED.least, SUSTAINED.summit), turn]
  })

const idle: Goal = (rows) => {
  const p50 = (subject: string, label: string) => findRow(rows, 'idle', subject, label)?.figures['p50Micros']
  const [normal, full, sync] = [p50('millrace', 'normal'), p50('millrace', 'full'), p50('one sync', 'full')]
  if (normal === undefined) return []
  const held = (label: string, micros: number, least: number, summit: number) => ({
    what: `idle enqueue to handler, \`${label}\``,
    measured: `p50 ${Math.round(micros)} µs`,
    bound: `${Math.round(least)} µs`,
    summit: `${Math.round(summit)} µs`,
    met: micros <= least,
  })
  return [
    held('normal', normal, IDLE_MICROS.least, IDLE_MICROS.summit),
    // One sync more than that.
    ...(full === undefined || sync === undefined ? [] : [held('full', full, IDLE_MICROS.least + sync, IDLE_MICROS.summit + sync)]),
  ]
}

const rate = (row: Row) => row.figures['jobsPerSecond'] as number

const peers: Goal = (rows) =>
  DURABILITIES.flatMap((label) => {
    const own = findRow(rows, 'endToEnd', 'millrace', label)
    const fastest = fastestPeer(rows, 'endToEnd', label)
    if (own === undefined || fastest === undefined) return []
    return [share(`whole jobs, \`${label}\``, rate(own) / rate(fastest), `times ${fastest.subject}`, TIMES_PEER.least, TIMES_PEER.summit)]
  })

/** With a handler that no peer runs, against their empty one. */
const peersByHandler: Goal = (rows) =>
  DURABILITIES.flatMap((durability) =>
    HANDLERS.flatMap(({ name, peer }) => {
      const own = findRow(rows, 'handlers', 'millrace', `${durability}, ${name}`)
      const fastest = fastestPeer(rows, 'handlers', `${durability}, ${typeof peer === 'string' ? EMPTY : name}`)
      if (own === undefined || fastest === undefined) return []
      const { least, summit } = TIMES_PEER_HANDLER
      return [share(`handler, \`${durability}\`: ${name}`, rate(own) / rate(fastest), `times ${fastest.subject}`, least, summit)]
    }),
  )

function fastestPeer(rows: readonly Row[], experiment: string, label: string): Row | undefined {
  return rows
    .filter((row) => row.experiment === experiment && row.label === label && !NODE_PEERS_NOT.has(row.subject))
    .toSorted((a, b) => rate(b) - rate(a))[0]
}

/** Not queues of other Node packages. */
const NODE_PEERS_NOT: ReadonlySet<string> = new Set(['millrace', 'limit', 'beanstalkd'])

/** Every backlog against the empty file of its own group. */
const growth: Goal = (rows) => {
  let empty: Row | undefined
  return rows
    .filter(({ experiment }) => experiment === 'growth')
    .flatMap((row) => {
      if (row.ratio === undefined) {
        empty = row
        return []
      }
      const over = (figure: string) => (row.figures[figure] ?? 0) - (empty?.figures[figure] ?? 0)
      const [ms, mb] = [over('openMs'), over('rssOpenMb')]
      return [
        share(row.label, row.ratio, 'of an empty file', GROWTH.least, GROWTH.summit),
        {
          what: `${row.label}: to open`,
          measured: `${Math.round(ms)} ms and ${mb.toFixed(1)} MB more`,
          bound: `flat: ${FLAT.openMs} ms, ${FLAT.openMb} MB`,
          summit: '',
          met: ms <= FLAT.openMs && mb <= FLAT.openMb,
        },
      ]
    })
}

const eventLoop: Goal = (rows) =>
  rows
    .filter(({ experiment, subject }) => experiment === 'eventLoop' && subject === 'millrace')
    .map(({ label, settings, figures }) => {
      const { least, summit } = DELAY_MS[settings.load === 'thread' ? 'thread' : 'host']
      const delayMs = figures['delayP99Ms'] as number
      return {
        what: `event-loop delay, ${label}`,
        measured: `p99 ${delayMs.toFixed(1)} ms`,
        bound: `${least} ms`,
        summit: `${summit} ms`,
        met: delayMs <= least,
      }
    })

const idleWorkers: Goal = (rows) =>
  rows
    .filter(({ experiment }) => experiment === 'idleWorkers')
    .flatMap(({ label, figures }) => {
      const mb = figures['idleWorkersMb'] as number
      return [
        share(`beside ${label}`, figures['ofNone'] as number, 'of the speed without', IDLE_WORKERS.least, 1),
        {
          what: `memory of ${label}`,
          measured: `${mb.toFixed(1)} MB`,
          bound: `under ${IDLE_WORKERS.mb} MB`,
          summit: '',
          met: mb < IDLE_WORKERS.mb,
        },
      ]
    })

const freeKey: Goal = (rows) =>
  rows
    .filter(({ experiment }) => experiment === 'greedy')
    .map(({ settings, figures }) => {
      const ms = figures['freeStartsMs'] as number
      return {
        what: `a job behind ${settings.backlogJobs?.toLocaleString('en')} of a key that has no room`,
        measured: `starts after ${ms.toFixed(0)} ms`,
        bound: `within ${FREE_KEY_MS} ms`,
        summit: '',
        met: ms <= FREE_KEY_MS,
      }
    })

const remote: Goal = (rows) =>
  rows.flatMap(({ experiment, label, settings, ratio }) => {
    if (experiment !== 'remote' || ratio === undefined) return []
    const least = settings.concurrency === settings.inFlight ? REMOTE.leastTight : REMOTE.least
    return [share(`whole jobs, ${label}`, ratio, 'of in process', least, REMOTE.summit)]
  })

export const GOALS: readonly Goal[] = [
  ofLimit,
  handlers,
  features,
  sustained,
  idle,
  peers,
  peersByHandler,
  growth,
  eventLoop,
  remote,
  idleWorkers,
  freeKey,
  steps,
  resume,
  sleepers,
]
