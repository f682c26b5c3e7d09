import { act } from '../../actions/act.ts'
import { duration } from '../../format/durations.ts'
import { count } from '../../format/numbers.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { memo } from '../../parts/memo.ts'
import { jobsLink } from '../../router/links.ts'
import type { NameRow } from './names.ts'
import { pauseName } from './pauses.ts'
import { text } from './text.ts'

const { names } = text
const NOTHING = '–'
const SHOWN = 50

export function Names({ queue, rows }: { readonly queue: string; readonly rows: readonly NameRow[] }) {
  return (
    <section class="card">
      <header>
        <h2>{names.title}</h2>
      </header>
      {rows.length === 0 ? (
        <p class="content muted">{names.none}</p>
      ) : (
        <table class="list names">
          <thead>
            <tr>
              <th class="queue">{names.columns.name}</th>
              <th class="r opt">{names.columns.started}</th>
              <th class="r opt">{names.columns.failed}</th>
              <th class="r">{names.columns.wait}</th>
              <th class="r opt">{names.columns.waitMost}</th>
              <th class="r">{names.columns.run}</th>
              <th class="r opt">{names.columns.runMost}</th>
              <th class="r opt">{names.columns.workers}</th>
              {sessions.can('admin') && (
                <th class="fit">
                  <span class="visually-hidden">{text.columns.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <Row key={row.name} queue={queue} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const Row = memo(function Row({ queue, row }: { readonly queue: string; readonly row: NameRow }) {
  const { name, isPaused, unserved, workers, started, failed, wait, run } = row
  const word = isPaused ? 'resume' : 'pause'
  const time = (ms: number | undefined) => (started === 0 || ms === undefined ? NOTHING : duration(ms))
  return (
    <tr>
      <td>
        <span class="inline">
          <a href={router.to(jobsLink({ queue, name }))} class="strong">
            {name}
          </a>
          {isPaused && <span class="tag warn">{text.tags.paused}</span>}
          {unserved !== undefined && <span class="tag bad">{names.unserved(unserved)}</span>}
        </span>
      </td>
      <td class="r opt">{count(started)}</td>
      <td class={failed === 0 ? 'r opt faint' : 'r opt'}>{failed === 0 ? NOTHING : count(failed)}</td>
      <td class="r">{time(wait?.p50)}</td>
      <td class="r opt muted">{time(wait?.p95)}</td>
      <td class="r">{time(run?.p50)}</td>
      <td class="r opt muted">{time(run?.p95)}</td>
      <td class={workers === 0 ? 'r opt s-bad' : 'r opt'}>{workers ?? NOTHING}</td>
      {sessions.can('admin') && (
        <td class="fit">
          <button type="button" class="btn ghost" aria-label={names[word](name)} onClick={() => void act(pauseName(queue, name, word))}>
            <Icon name={isPaused ? 'play' : 'pause'} size={12} />
          </button>
        </td>
      )}
    </tr>
  )
})
