import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { useAnswer } from '../../hooks.ts'
import { router } from '../../page.ts'
import { Field } from '../../parts/Field.tsx'
import { FormDialog } from '../../parts/FormDialog.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { changedBy, createdBy, errorsOf, type Form } from './form.ts'
import { text } from './text.ts'
import { wordsOf } from './words.ts'

const { form: words } = text
const ZONES = Intl.supportedValuesOf('timeZone')
const RARELY = 15

interface Props {
  readonly before: Form
  /** Set if the schedule is there already. */
  readonly isKnown?: boolean
  /** The payloads that have hidden values. */
  readonly hidden?: readonly string[]
  readonly onClose: () => void
}

/** Creates a schedule, or changes the fields of one that differ. */
export function ScheduleForm({ before, isKnown = false, hidden = [], onClose }: Props) {
  const [first] = useState(before)
  const [form, setForm] = useState(first)
  const names = useAnswer('/v1/stats', { names: 'none', definitions: 'all' }, RARELY).value?.definitions ?? []
  const errors = errorsOf(form)
  const changes = isKnown ? changedBy(first, form) : createdBy(form)
  const isReady = Object.keys(errors).length === 0 && Object.keys(changes).length > 0
  const field = (name: Exclude<keyof Form, 'kind'>) => ({
    value: form[name],
    // An empty field of a new form is no mistake yet.
    error: form[name] === '' ? undefined : errors[name],
    onChange: (value: string) => setForm({ ...form, [name]: value }),
  })
  const save = async () => {
    const { id } = form
    const isDone = isKnown
      ? await act({ method: 'PATCH', path: `/v1/schedules/${encodeURIComponent(id)}`, body: changes, done: text.done.changed(id) })
      : await act({ path: '/v1/schedules', body: changes, done: text.done.created(id) })
    if (isDone) router.amend({ schedule: id })
    return isDone
  }
  return (
    <FormDialog
      isWide
      title={isKnown ? words.change(first.id) : words.create}
      action={words.save[isKnown ? 'change' : 'create']}
      isReady={isReady}
      onSubmit={save}
      onClose={onClose}
    >
      {!isKnown && <Field label={words.id} {...field('id')} required />}
      <Field label={words.job} {...field('job')} required suggestions={names.map(({ name }) => name)} />
      <div class="whole inline">
        <Segments
          label={words.times}
          options={[
            ['cron', words.kinds.cron],
            ['every', words.kinds.every],
          ]}
          value={form.kind}
          onChange={(kind) => setForm({ ...form, kind })}
        />
        <span class="muted small">{form.kind === 'cron' ? wordsOf({ cron: form.cron }) : ''}</span>
      </div>
      {form.kind === 'cron' && <Field label={words.cron} {...field('cron')} hint={words.cronHint} placeholder="0 3 * * *" required />}
      {form.kind === 'cron' && <Field label={words.zone} {...field('timezone')} suggestions={ZONES} />}
      {form.kind === 'every' && <Field label={words.every} {...field('every')} hint={words.everyHint} placeholder="90s" required />}
      <Field label={words.jitter} {...field('jitter')} placeholder="0s" />
      <Field label={words.overlap} {...field('overlap')} options={Object.entries(text.overlaps)} />
      <Field label={words.catchUp} {...field('catchUp')} options={Object.entries(text.catchUps)} />
      <Field label={words.startAt} {...field('startAt')} placeholder={words.timeHint} />
      <Field label={words.endAt} {...field('endAt')} placeholder={words.timeHint} />
      <div class="whole">
        {hidden.includes('data') ? (
          <Hidden label={words.data} />
        ) : (
          <Field label={words.data} {...field('data')} rows={4} placeholder="{}" />
        )}
      </div>
      <div class="whole">
        {hidden.includes('meta') ? (
          <Hidden label={words.options} />
        ) : (
          <Field label={words.options} {...field('options')} rows={3} placeholder='{ "queue": "reports" }' />
        )}
      </div>
    </FormDialog>
  )
}

function Hidden({ label }: { readonly label: string }) {
  return (
    <p class="muted small">
      {label}: {words.hidden}
    </p>
  )
}
