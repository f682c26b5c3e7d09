import { useEffect, useRef, useState } from 'preact/hooks'
import { tell } from '../../actions/toast.ts'
import type { JobAnswer } from '../../api/answers.ts'
import { api, router } from '../../page.ts'
import { Modal } from '../../parts/Modal.tsx'
import { jobLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { copyRequest, editable, faultOf } from './copy.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { copy: text } = JOB_PAGE_TEXT
const LINES_MOST = 18
const LINES_LEAST = 6

/** Edits the data of a job, and enqueues a new one with it. */
export function CopyDialog({ job, onClose }: { readonly job: JobAnswer; readonly onClose: () => void }) {
  const [start] = useState(() => editable(job))
  const [source, setSource] = useState('source' in start ? start.source : '')
  const [refusal, setRefusal] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const enqueue = async () => {
    const fault = faultOf(source)
    setRefusal(fault)
    if (fault !== undefined) return
    setBusy(true)
    try {
      const { id } = (await api.send('POST', '/v1/jobs', copyRequest(job, source))) as { readonly id: string }
      onClose()
      tell(text.done)
      router.follow(jobLink(id))
    } catch (error) {
      setRefusal(TEXT.actions.failed((error as Error).message))
      setBusy(false)
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void enqueue()
  }
  return (
    <Modal title={text.title(job.name)} onClose={onClose}>
      <div class="content-text form">
        {'refusal' in start ? (
          <p>{start.refusal}</p>
        ) : (
          <>
            <label for="copy-data">{text.data}</label>
            <textarea
              ref={field}
              id="copy-data"
              class="mono"
              rows={Math.min(LINES_MOST, Math.max(LINES_LEAST, source.split('\n').length))}
              spellcheck={false}
              value={source}
              aria-describedby="copy-note"
              onInput={({ currentTarget }) => setSource(currentTarget.value)}
              onKeyDown={onKeyDown}
            />
            <p id="copy-note" class="muted">
              {text.note}
            </p>
          </>
        )}
        {refusal !== undefined && (
          <p class="s-bad" role="alert">
            {refusal}
          </p>
        )}
      </div>
      <footer>
        <button type="button" class="btn" onClick={onClose}>
          {TEXT.actions.cancel}
        </button>
        {'source' in start && (
          <button type="button" class="btn primary" disabled={isBusy} onClick={() => void enqueue()}>
            {text.enqueue}
          </button>
        )}
      </footer>
    </Modal>
  )
}
