import { useState } from 'preact/hooks'
import { tell } from '../actions/toast.ts'
import { ApiError } from '../api/problem.ts'
import { useAnswer, useStats } from '../hooks.ts'
import { api, live, router } from '../page.ts'
import { Field } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormDialog.tsx'
import { jobLink } from '../router/links.ts'
import { TEXT } from '../text.ts'
import { type Draft, type FieldErrors, type FieldName, faultsOf, OPTIONS, refusalsOf, requestOf } from './newJob.ts'
import { NEW_JOB_TEXT as text } from './newJobText.ts'

/** Beats between two questions for what is offered while typing. */
const RARELY = 15
const LINES_LEAST = 5
const LINES_MOST = 16

interface Props {
  readonly title: string
  readonly draft: Draft
  /** Above the fields. */
  readonly note?: string
  /** The field that is edited first. */
  readonly first: FieldName
  readonly onClose: () => void
}

/** Enqueues a job, and shows it. */
export function NewJobDialog({ title, draft, note, first, onClose }: Props) {
  const [fields, setFields] = useState(draft.fields)
  const [errors, setErrors] = useState<FieldErrors>({})
  const definitions = useAnswer('/v1/stats', { names: 'none', definitions: 'all' }, RARELY).value?.definitions ?? []
  const queues = Object.keys(useStats().value?.queues ?? {})
  const enqueue = async () => {
    const faults = faultsOf(fields)
    setErrors(faults)
    if (Object.keys(faults).length > 0) return false
    try {
      const { id } = (await api.send('POST', '/v1/jobs', requestOf(draft, fields))) as { readonly id: string }
      tell(text.done)
      live.refresh()
      router.follow(jobLink(id))
      return true
    } catch (error) {
      const refusals = error instanceof ApiError ? refusalsOf(error) : {}
      setErrors(refusals)
      if (Object.keys(refusals).length === 0) tell(TEXT.actions.failed((error as Error).message), true)
      return false
    }
  }
  const field = (name: FieldName, suggestions?: readonly string[]) => (
    <Field
      key={name}
      label={text.fields[name]}
      placeholder={text.examples[name]}
      value={fields[name]}
      error={errors[name]}
      suggestions={suggestions}
      isFirst={name === first}
      rows={name === 'data' ? Math.min(LINES_MOST, Math.max(LINES_LEAST, fields.data.split('\n').length)) : undefined}
      onChange={(value) => setFields({ ...fields, [name]: value })}
    />
  )
  return (
    <FormDialog isWide title={title} action={text.enqueue} isReady={fields.job.trim() !== ''} onSubmit={enqueue} onClose={onClose}>
      {note !== undefined && <p class="whole muted">{note}</p>}
      {field(
        'job',
        definitions.map(({ name }) => name),
      )}
      {field('queue', queues)}
      <div class="whole">{field('data')}</div>
      {OPTIONS.slice(1).map((name) => field(name))}
    </FormDialog>
  )
}
