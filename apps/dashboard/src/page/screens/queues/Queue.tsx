/** One queue: what holds it back, its jobs by state, names, keys and settings, and all that can be done to it. */
import type { QueueAnswer, StatsAnswer } from '../../api/answers.ts'
import { Notice } from '../../frame/Notice.tsx'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared, useStats } from '../../hooks.ts'
import { now, sessions } from '../../page.ts'
import { TEXT } from '../../text.ts'
import { PERIODS } from '../overview/periods.ts'
import { ThroughputChart } from '../overview/ThroughputChart.tsx'
import { throughputOf } from '../overview/throughput.ts'
import type { ScreenProps } from '../props.ts'
import { Actions } from './Actions.tsx'
import { Checks } from './Checks.tsx'
import { Counts } from './Counts.tsx'
import { diagnosisOf } from './checks.ts'
import { lastHourOf, type Point } from './history.ts'
import { Keys } from './Keys.tsx'
import { Names } from './Names.tsx'
import { nameRows } from './names.ts'
import { SettingsCard } from './SettingsCard.tsx'
import { text } from './text.ts'

const WORKERS_EVERY = 5
const SLOWLY = 8

export function Queue({ params }: ScreenProps) {
  const name = params['name'] ?? ''
  const { value: queue, error } = useAnswer(`/v1/queues/${encodeURIComponent(name)}`)
  const stats = useStats().value
  if (error?.status === 404 && queue === undefined) return <Notice text={text.missing(name)} />
  return (
    <Page
      name="queues"
      title={name}
      above={['/queues', TEXT.screens.queues]}
      tools={queue !== undefined && <Tags queue={queue} isAll={stats?.paused === true} />}
    >
      {queue !== undefined && stats !== undefined && <Shown queue={queue} stats={stats} />}
    </Page>
  )
}

function Tags({ queue: { paused, settings }, isAll }: { readonly queue: QueueAnswer; readonly isAll: boolean }) {
  const { tags } = text
  const shown = [...(isAll ? [tags.allPaused] : []), ...(paused ? [tags.paused] : []), ...(settings.draining ? [tags.draining] : [])]
  return (
    <>
      {shown.map((tag) => (
        <span key={tag} class="tag warn">
          {tag}
        </span>
      ))}
    </>
  )
}

function Shown({ queue, stats }: { readonly queue: QueueAnswer; readonly stats: StatsAnswer }) {
  const { name } = queue
  const isAdmin = sessions.can('admin')
  const workers = useAnswer('/v1/workers', {}, WORKERS_EVERY).value?.workers
  const history = useHistory(name)
  const diagnosis = useShared(diagnosisOf({ queue, stats, workers, recent: history?.total }))
  const rows = useShared(nameRows(queue, stats, workers))
  return (
    <>
      {isAdmin && <Actions queue={queue} />}
      <Counts queue={queue} history={history?.total} />
      <div class="cols">
        <div class="stack">
          <Checks diagnosis={diagnosis} />
          <section class="card">
            <header>
              <h2>{TEXT.overview.perMinute}</h2>
            </header>
            {history !== undefined && (
              <ThroughputChart throughput={throughputOf(history, PERIODS['1h'], now.peek())} period={TEXT.overview.ranges['1h']} />
            )}
          </section>
          <Names queue={name} rows={rows} />
          <Keys queue={queue} />
        </div>
        <SettingsCard queue={queue} />
      </div>
    </>
  )
}

/** One queue is answered by its points, in place of the columns of all. */
function useHistory(queue: string) {
  const { step, ms } = PERIODS['1h']
  const { value } = useAnswer('/v1/history', { queue, step, from: { agoMs: ms } }, SLOWLY)
  const points = (value as { readonly points?: readonly Point[] } | undefined)?.points
  return useShared(points && lastHourOf(points, now.peek()))
}
