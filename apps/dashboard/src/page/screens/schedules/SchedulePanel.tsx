/** A schedule beside the list: how its last job ended, when the next ones come, and what can be done. */
import { useState } from 'preact/hooks'
import { type Action, act } from '../../actions/act.ts'
import type { ScheduleAnswer } from '../../api/answers.ts'
import { exactTime } from '../../format/times.ts'
import { useAnswer } from '../../hooks.ts'
import { live, router, sessions, settings } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Ask } from '../../parts/Ask.tsx'
import { Fact } from '../../parts/Fact.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { SidePanel } from '../../parts/SidePanel.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { formOf } from './form.ts'
import { ScheduleForm } from './ScheduleForm.tsx'
import { text } from './text.ts'
import { interval, wordsOf } from './words.ts'

const TIMES = 5

const addressOf = (id: string) => [`/v1/schedules/${encodeURIComponent(id)}`, { times: TIMES }] as const

export function SchedulePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { value: schedule, error } = useAnswer(...addressOf(id))
  const isGone = error?.status === 404
  return (
    <SidePanel
      label={text.beside}
      title={id}
      note={schedule?.paused === true && <span class="tag warn">{text.tags.paused}</span>}
      onClose={onClose}
    >
      {isGone && <p class="content muted">{text.missing(id)}</p>}
      {schedule !== undefined && !isGone && <Known schedule={schedule} onClose={onClose} />}
    </SidePanel>
  )
}

function Known({ schedule, onClose }: { readonly schedule: ScheduleAnswer; readonly onClose: () => void }) {
  const { cron, nextRuns, paused } = schedule
  const words = wordsOf(schedule)
  return (
    <>
      <p class="content">
        {words !== undefined && <strong>{words}</strong>} {cron !== undefined && <code class="muted">{cron}</code>}
      </p>
      {sessions.can('admin') && <Actions schedule={schedule} onClose={onClose} />}
      <div class="beside-runs">
        <h3>{text.last}</h3>
        <Last schedule={schedule} />
        <h3>{text.next}</h3>
        {nextRuns.length === 0 && <p class="muted">{paused ? text.noNext.paused : text.noNext.ended}</p>}
        <ol>
          {nextRuns.map((at) => (
            <li key={at}>
              <span class="num">{exactTime(Date.parse(at), settings.zone.value).replace(/\.\d{3}(?= )/, '')}</span>
              <span class="end muted">
                <Ago at={at} />
              </span>
            </li>
          ))}
        </ol>
      </div>
      <Facts schedule={schedule} />
    </>
  )
}

function Last({ schedule: { lastRunAt, lastJobId, lastResult } }: { readonly schedule: ScheduleAnswer }) {
  if (lastRunAt === undefined) return <p class="muted">{text.never}</p>
  const state = lastResult?.state ?? 'active'
  const said = text.results[lastResult === undefined ? 'running' : (lastResult.state as 'failed')] ?? state
  return (
    <>
      <p class="inline">
        <StateIcon state={state} />
        <strong class={state === 'failed' ? 's-failed' : ''}>{said}</strong>
        <span class="muted">
          <Ago at={lastRunAt} />
        </span>
        {lastJobId !== undefined && (
          <a class="btn end" href={router.to(jobLink(lastJobId))}>
            {text.open}
          </a>
        )}
      </p>
      {lastResult?.error !== undefined && (
        <p class="mono wraps">
          <span class="s-failed">{lastResult.error.name}</span>: {lastResult.error.message}
        </p>
      )}
    </>
  )
}

function Facts({ schedule }: { readonly schedule: ScheduleAnswer }) {
  const { facts } = text
  const { job, timezone, runs, skipped, overlap, catchUp, jitter, startAt, endAt, options, data } = schedule
  return (
    <dl class="kv wrapped">
      <Fact name={facts.job}>{job}</Fact>
      {timezone !== undefined && <Fact name={facts.zone}>{timezone}</Fact>}
      <Fact name={facts.runs}>{text.runs(runs, skipped)}</Fact>
      <Fact name={facts.overlap}>{text.overlaps[overlap] ?? overlap}</Fact>
      <Fact name={facts.catchUp}>{text.catchUps[catchUp] ?? catchUp}</Fact>
      {jitter > 0 && <Fact name={facts.jitter}>{interval(jitter)}</Fact>}
      {startAt !== undefined && <Fact name={facts.from}>{exactTime(Date.parse(startAt), settings.zone.value)}</Fact>}
      {endAt !== undefined && <Fact name={facts.until}>{exactTime(Date.parse(endAt), settings.zone.value)}</Fact>}
      {Object.keys(options).length > 0 && <Fact name={facts.options}>{<code>{JSON.stringify(options)}</code>}</Fact>}
      {data !== undefined && <Fact name={facts.data}>{<code>{shortJson(data)}</code>}</Fact>}
    </dl>
  )
}

const SHOWN = 600

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? ''
  return json.length <= SHOWN ? json : `${json.slice(0, SHOWN)}…`
}

function Actions({ schedule, onClose }: { readonly schedule: ScheduleAnswer; readonly onClose: () => void }) {
  const { id, paused, redacted = [] } = schedule
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const path = `/v1/schedules/${encodeURIComponent(id)}`
  const word = paused ? 'resume' : 'pause'
  const call = (does: string, done: string): Action => ({ path: `${path}/${does}`, done })
  const onDone = () => {
    // Else the look after the change would find nothing.
    live.poll(...addressOf(id)).end()
    onClose()
  }
  const remove = () => act({ method: 'DELETE', path, done: text.done.removed(id), onDone })
  return (
    <div class="content toolbar">
      <button type="button" class="btn primary" onClick={() => void act(call('trigger', TEXT.actions.triggered(id)))}>
        <Icon name="play" size={12} />
        {text.runNow}
      </button>
      <button type="button" class="btn" onClick={() => void act(call(word, text.done[word](id)))}>
        {text[word]}
      </button>
      <button type="button" class="btn" onClick={() => setAsked('edit')}>
        {text.edit}
      </button>
      <button type="button" class="btn ghost danger" onClick={() => setAsked('remove')}>
        {text.remove}
      </button>
      {asked === 'edit' && <ScheduleForm before={formOf(schedule)} isKnown hidden={redacted} onClose={() => setAsked(undefined)} />}
      {asked === 'remove' && (
        <Ask isDanger title={text.removing.title(id)} action={text.removing.confirm} onConfirm={remove} onClose={() => setAsked(undefined)}>
          <p>{text.removing.text}</p>
        </Ask>
      )}
    </div>
  )
}
