import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import type { JobAnswer } from '../../api/answers.ts'
import { aheadMs } from '../../format/times.ts'
import { settings } from '../../page.ts'
import { Modal } from '../../parts/Modal.tsx'
import { TEXT } from '../../text.ts'
import { changesOf, localTime } from './change.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { change: text } = JOB_PAGE_TEXT

export function ChangeDialog({ job, onClose }: { readonly job: JobAnswer; readonly onClose: () => void }) {
  const at = Date.parse(job.runAt)
  const ahead = aheadMs(at, settings.zone.value)
  const [before] = useState({ priority: job.priority, time: localTime(at, ahead) })
  const [priority, setPriority] = useState(`${job.priority}`)
  const [time, setTime] = useState(before.time)
  const [isWrong, setWrong] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    const body = changesOf(before, priority, time, ahead)
    setWrong(body === undefined)
    if (body === undefined) return
    onClose()
    if (Object.keys(body).length === 0) return
    await act({ method: 'PATCH', path: `/v1/jobs/${encodeURIComponent(job.id)}`, body, done: text.done(job.name) })
  }
  return (
    <Modal title={text.title(job.name)} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <div class="content-text form">
          <label for="change-priority">{text.priority}</label>
          <input
            id="change-priority"
            type="number"
            step="1"
            value={priority}
            aria-describedby="change-note"
            onInput={({ currentTarget }) => setPriority(currentTarget.value)}
          />
          <p id="change-note" class="muted">
            {text.priorityNote}
          </p>
          <label for="change-time">{text.runAt}</label>
          <input id="change-time" type="datetime-local" value={time} onInput={({ currentTarget }) => setTime(currentTarget.value)} />
          {isWrong && (
            <p class="s-bad" role="alert">
              {text.wrong}
            </p>
          )}
        </div>
        <footer>
          <button type="button" class="btn" onClick={onClose}>
            {TEXT.actions.cancel}
          </button>
          <button type="submit" class="btn primary">
            {text.save}
          </button>
        </footer>
      </form>
    </Modal>
  )
}
