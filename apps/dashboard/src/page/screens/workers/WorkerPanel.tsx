import { duration } from '../../format/durations.ts'
import { shortId } from '../../format/ids.ts'
import { bytes } from '../../format/numbers.ts'
import { useAnswer } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Fact } from '../../parts/Fact.tsx'
import { SidePanel } from '../../parts/SidePanel.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobLink } from '../../router/links.ts'
import { kindsOf, type WorkerRow } from './rows.ts'
import { text } from './text.ts'

interface Props {
  readonly id: string
  /** Undefined once the worker has left. */
  readonly row: WorkerRow | undefined
  readonly onClose: () => void
  readonly onStop: (row: WorkerRow) => void
}

/** A worker beside the list: all that is known of it, and what it runs. */
export function WorkerPanel({ id, row, onClose, onStop }: Props) {
  return (
    <SidePanel
      label={text.beside}
      title={id}
      tools={
        row !== undefined &&
        !row.isStopping &&
        sessions.can('admin') && (
          <button type="button" class="btn" onClick={() => onStop(row)}>
            {text.stop}
          </button>
        )
      }
      onClose={onClose}
    >
      {row === undefined ? <p class="content muted">{text.gone(id)}</p> : <Known row={row} />}
    </SidePanel>
  )
}

function Known({ row }: { readonly row: WorkerRow }) {
  const { facts, columns } = text
  return (
    <>
      {row.zombies > 0 && <p class="content s-bad">{text.zombies(row.zombies)}</p>}
      {row.isAway && <p class="content s-warn">{text.away}</p>}
      {row.isLate && <p class="content s-warn">{text.blocked}</p>}
      <dl class="kv wrapped">
        <Fact name={facts.host}>{row.host}</Fact>
        <Fact name={facts.pid}>{row.pid}</Fact>
        <Fact name={facts.slots}>{text.slots(row.taken, row.slots)}</Fact>
        <Fact name={facts.names}>{row.names.join(', ')}</Fact>
        <Fact name={facts.queues}>{row.queues === null ? text.allQueues : row.queues.join(row.isStrict ? ' > ' : ', ')}</Fact>
        {row.kinds.length > 0 && <Fact name={facts.kind}>{kindsOf(row)}</Fact>}
        {row.version !== undefined && <Fact name={columns.version}>{row.version}</Fact>}
        {row.delayMs !== undefined && <Fact name={facts.delay}>{text.late(duration(row.delayMs))}</Fact>}
        {row.rssBytes !== undefined && <Fact name={columns.memory}>{bytes(row.rssBytes)}</Fact>}
        {row.sessions > 1 && <Fact name={facts.pools}>{text.pools(row.sessions)}</Fact>}
        {row.attachedAt !== undefined && (
          <Fact name={facts.attached}>
            <Ago at={row.attachedAt} />
          </Fact>
        )}
        {row.seenAt !== undefined && (
          <Fact name={facts.seen}>
            <Ago at={row.seenAt} />
          </Fact>
        )}
        {row.deadlineAt !== undefined && (
          <Fact name={facts.deadline}>
            <Ago at={row.deadlineAt} />
          </Fact>
        )}
      </dl>
      <Running id={row.id} />
    </>
  )
}

const MOST = 200

function Running({ id }: { readonly id: string }) {
  const answer = useAnswer('/v1/jobs', { state: 'active', worker: id, include: 'lastRun', payload: 'none', limit: MOST }).value
  if (answer === undefined) return null
  const { jobs } = answer
  return (
    <div class="beside-runs">
      <h3>{text.runs}</h3>
      {jobs.length === 0 && <p class="muted">{text.idle}</p>}
      <ul>
        {jobs.map((job) => (
          <li key={job.id}>
            <StateIcon state="active" />
            <a href={router.to(jobLink(job.id))} class="strong">
              {job.name}
            </a>
            <span class="mono faint">{shortId(job.id)}</span>
            <span class="end muted">{job.lastRun?.startedAt !== undefined && <Ago at={job.lastRun.startedAt} />}</span>
          </li>
        ))}
      </ul>
      {answer.next !== undefined && <p class="faint small">{text.more(MOST)}</p>}
    </div>
  )
}
