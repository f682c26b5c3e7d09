import { useEffect, useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import type { QueueAnswer } from '../../api/answers.ts'
import { useAnswer, useShared } from '../../hooks.ts'
import { api, sessions } from '../../page.ts'
import { Field } from '../../parts/Field.tsx'
import { changesOf, errorsOf, type Fields, fieldsOf, GROUPS, type Group, type Setting, said } from './settings.ts'
import { text } from './text.ts'

const { settings: words } = text
/** Groups that are open from the start: the others are changed rarely. */
const OPEN = 2

/** Every setting of the queue, with its default and who has set it: a form for those who may change them. */
export function SettingsCard({ queue: { name, settings } }: { readonly queue: QueueAnswer }) {
  const stored = useShared(fieldsOf(settings))
  return (
    <section class="card" aria-label={words.title}>
      <header>
        <h2>{words.title}</h2>
      </header>
      {sessions.can('admin') ? <Form key={name} queue={name} stored={stored} /> : <Shown stored={stored} />}
      <Definitions queue={name} />
    </section>
  )
}

function Form({ queue, stored }: { readonly queue: string; readonly stored: Fields }) {
  const [typed, setTyped] = useState<Fields>({})
  // What somebody else has saved meanwhile shows in the fields that are not touched.
  useEffect(
    () => setTyped((before) => Object.fromEntries(Object.entries(before).filter(([path, value]) => value !== (stored[path] ?? '')))),
    [stored],
  )
  const fields = { ...stored, ...typed }
  const errors = errorsOf(fields)
  const isChanged = Object.keys(changesOf(stored, fields)).length > 0
  const save = async (event: Event) => {
    event.preventDefault()
    const path = `/v1/queues/${encodeURIComponent(queue)}` as const
    // Settings of several fields are sent as a whole: what somebody else has saved meanwhile stays in the others.
    const body = async () => {
      const latest = fieldsOf((await api.get(path)).settings)
      return changesOf(latest, { ...latest, ...typed })
    }
    if (await act({ method: 'PUT', path, body, done: words.done(queue) })) setTyped({})
  }
  const draw = (setting: Setting) => (
    <Field
      key={setting.path}
      label={setting.label}
      value={fields[setting.path] ?? ''}
      note={noteOf(setting, stored)}
      placeholder={setting.preset}
      options={setting.choices}
      hint={setting.hint}
      error={errors[setting.path]}
      onChange={(value) => setTyped({ ...typed, [setting.path]: value })}
    />
  )
  return (
    <form class="settings" onSubmit={(event) => void save(event)}>
      {GROUPS.map((group, place) => (
        <details key={group.title} open={place < OPEN || isSet(group, stored)}>
          <summary>{group.title}</summary>
          <div class={group.columns === 3 ? 'fields three' : 'fields'}>{group.settings.map(draw)}</div>
        </details>
      ))}
      {isChanged && (
        <footer>
          <button type="button" class="btn" onClick={() => setTyped({})}>
            {words.reset}
          </button>
          <button type="submit" class="btn primary" disabled={Object.keys(errors).length > 0}>
            {words.save}
          </button>
        </footer>
      )}
    </form>
  )
}

const isSet = ({ settings }: Group, stored: Fields) => settings.some(({ path }) => stored[path] !== undefined)

function noteOf({ path }: Setting, stored: Fields): string {
  return stored[path] === undefined ? words.preset : words.mine
}

function Shown({ stored }: { readonly stored: Fields }) {
  return (
    <dl class="kv">
      {GROUPS.flatMap(({ settings }) => settings).map((setting) => (
        <div key={setting.path}>
          <dt>{setting.label}</dt>
          <dd class={stored[setting.path] === undefined ? 'faint' : ''}>
            {stored[setting.path] === undefined ? `${setting.preset} (${words.unset})` : said(setting, stored)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const RARELY = 15

/** Defaults of the jobs of this queue, as the definitions of workers state them. */
function Definitions({ queue }: { readonly queue: string }) {
  const { value } = useAnswer('/v1/stats', { names: 'none', definitions: 'all' }, RARELY)
  const definitions = (value?.definitions ?? []).filter(({ defaults }) => (defaults['queue'] ?? 'default') === queue)
  if (definitions.length === 0) return null
  return (
    <details class="definitions">
      <summary>{words.definitions}</summary>
      <p class="faint small">{words.definitionsHint}</p>
      <ul>
        {definitions.map(({ name, defaults: { queue: _, ...others }, worker, host, disputedBy }) => (
          <li key={name}>
            <strong>{name}</strong> <span class="faint">{words.saidBy(worker, host)}</span>
            {disputedBy.length > 0 && <span class="tag warn">{words.disputed}</span>}
            <code>{JSON.stringify(others)}</code>
          </li>
        ))}
      </ul>
    </details>
  )
}
