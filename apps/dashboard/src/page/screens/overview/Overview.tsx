/** The first screen: what is wrong, how many jobs there are, how fast they go, and which queues are worst. */
import { useRef } from 'preact/hooks'
import type { QueuesHistory, Schedule, StatsAnswer } from '../../api/answers.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useFailures, useShared, useStats } from '../../hooks.ts'
import { now, router, settings } from '../../page.ts'
import { Segments } from '../../parts/Segments.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { FirstJob } from './FirstJob.tsx'
import { Problems } from './Problems.tsx'
import { PERIODS, type PeriodName, periodOf } from './periods.ts'
import type { Problem } from './problems/problem.ts'
import { crowdedSince } from './problems/writer.ts'
import { problemsOf } from './problems.ts'
import { QueueTable } from './QueueTable.tsx'
import { queueRows } from './queueRows.ts'
import { Samples } from './Samples.tsx'
import { Strip } from './Strip.tsx'
import { stripOf } from './strip.ts'
import { ThroughputChart } from './ThroughputChart.tsx'
import { PercentileMarks, TimingsChart } from './TimingsChart.tsx'
import { throughputOf } from './throughput.ts'
import { timingRows } from './timings.ts'

const { overview: text } = TEXT
const QUEUES_SHOWN = 8
const NAMES_SHOWN = 6
/** Beats between two questions for what changes by the minute, or rarely. */
const WORKERS_EVERY = 5
const SLOWLY = 8
const RARELY = 15
const NONE: readonly never[] = []

export function Overview({ query }: ScreenProps) {
  const stats = useStats().value
  const name = periodOf(query['period'])
  const tools = (
    <Segments
      label={text.range}
      options={(Object.keys(PERIODS) as PeriodName[]).map((period) => [period, text.ranges[period]] as const)}
      value={name}
      onChange={(period) => router.amend({ period: period === '1h' ? undefined : period })}
    />
  )
  return (
    <Page name="overview" title={TEXT.screens.overview} tools={tools}>
      <Samples />
      {stats !== undefined && (stats.totals.enqueued === 0 ? <FirstJob /> : <Figures stats={stats} name={name} />)}
    </Page>
  )
}

function Figures({ stats, name }: { readonly stats: StatsAnswer; readonly name: PeriodName }) {
  const period = PERIODS[name]
  const words = text.ranges[name]
  const history = useHistory(name)
  const recent = useHistory('1h')
  const workers = useAnswer('/v1/workers', {}, WORKERS_EVERY).value?.workers
  const queues = useAnswer('/v1/queues', { limit: 500 }, SLOWLY).value?.queues ?? []
  const problems = useProblems(stats)
  const behind = new Set(problems.filter(({ waits }) => waits === 'behind').map(({ queue }) => queue as string))
  const cells = useShared(stripOf({ stats, workers, history, recent, period: words }))
  const rows = useShared(queueRows({ stats, queues, history, recent, period, problems }, QUEUES_SHOWN))
  const timings = useShared(timingRows(stats.names, behind, NAMES_SHOWN))
  const { waiting, active, scheduled, blocked } = stats.states
  return (
    <>
      <Problems problems={problems} well={text.wellMore(waiting + active + scheduled + blocked, stats.workers)} />
      <Strip cells={cells} />
      <div class="cols half">
        <section class="card">
          <header>
            <h2 class="nowrap">{text.perMinute}</h2>
            <div class="end legend">
              <span>
                <i class="c-ok" />
                {text.completed}
              </span>
              <span>
                <i class="c-bad" />
                {text.failed}
              </span>
              <span>
                <i class="c-in" />
                {text.enqueued}
              </span>
            </div>
          </header>
          {history !== undefined && <ThroughputChart throughput={throughputOf(history, period, now.peek())} period={words} />}
        </section>
        <section class="card">
          <header>
            <h2 class="nowrap">{text.times}</h2>
            <div class="end legend">
              <span>
                <i class="c-wait" />
                {text.wait}
              </span>
              <span>
                <i class="c-run" />
                {text.run}
              </span>
              <PercentileMarks />
            </div>
          </header>
          {timings.length > 0 ? <TimingsChart rows={timings} /> : <p class="plot muted">{text.noTimes}</p>}
        </section>
      </div>
      <QueueTable rows={rows} period={words} />
    </>
  )
}

function useHistory(name: PeriodName): QueuesHistory | undefined {
  const { step, ms, queues } = PERIODS[name]
  return useAnswer('/v1/history', { queues: '*', step, from: { agoMs: ms }, limit: queues }, SLOWLY).value
}

/** They are asked for only if the last job of one has failed. */
function useSchedules({ schedules }: StatsAnswer): readonly Schedule[] {
  return useAnswer(schedules.failing > 0 ? '/v1/schedules' : undefined, { limit: 200 }, RARELY).value?.schedules ?? NONE
}

function useProblems(stats: StatsAnswer): readonly Problem[] {
  const failures = useFailures().value?.failures ?? []
  const workers = useAnswer('/v1/workers', {}, WORKERS_EVERY).value?.workers ?? []
  const queues = useAnswer('/v1/queues', { limit: 500 }, SLOWLY).value?.queues ?? []
  const schedules = useSchedules(stats)
  const crowded = useRef<number | undefined>(undefined)
  const at = now.peek()
  crowded.current = crowdedSince(stats.writer.mailboxDepth, crowded.current, at)
  return useShared(
    problemsOf({
      stats,
      failures,
      workers,
      queues,
      schedules,
      crowdedSince: crowded.current,
      now: at,
      zone: settings.zone.value,
    }),
  )
}
