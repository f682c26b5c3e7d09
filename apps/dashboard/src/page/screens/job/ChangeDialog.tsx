import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import type { JobAnswer } from '../../api/answers.ts'
import { aheadMs } from '../../format/times.ts'
import { settings } from '../../page.ts'
import { Field } from '../../parts/Field.tsx'
import { FormDialog } from '../../parts/FormDialog.tsx'
import { changesOf, localTime } from './change.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { change: text } = JOB_PAGE_TEXT

export function ChangeDialog({ job, onClose }: { readonly job: JobAnswer; readonly onClose: () => void }) {
  const at = Date.parse(job.runAt)
  const ahead = aheadMs(at, settings.zone.value)
  const [before] = useState({ priority: job.priority, time: localTime(at, ahead) })
  const [priority, setPriority] = useState(`${job.priority}`)
  const [time, setTime] = useState(before.time)
  const body = changesOf(before, priority, time, ahead)
  const save = async () => act({ method: 'PATCH', path: `/v1/jobs/${encodeURIComponent(job.id)}`, body, done: text.done(job.name) })
  return (
    <FormDialog
      title={text.title(job.name)}
      action={text.save}
      isReady={body !== undefined && Object.keys(body).length > 0}
      onSubmit={save}
      onClose={onClose}
    >
      <Field
        label={text.priority}
        value={priority}
        onChange={setPriority}
        hint={text.priorityNote}
        error={body === undefined && time !== '' ? text.wrong : undefined}
      />
      <Field label={text.runAt} type="datetime-local" value={time} onChange={setTime} />
    </FormDialog>
  )
}
