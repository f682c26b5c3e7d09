import { useState } from 'preact/hooks'
import type { JobAnswer } from '../../api/answers.ts'
import { NewJobDialog } from '../../job/NewJobDialog.tsx'
import { copyOf } from '../../job/newJob.ts'
import { NEW_JOB_TEXT } from '../../job/newJobText.ts'
import { Modal } from '../../parts/Modal.tsx'

const { copy: text } = NEW_JOB_TEXT

/** Edits the data and the options of a job, and enqueues a new one with them: finished jobs cannot be changed. */
export function CopyDialog({ job, onClose }: { readonly job: JobAnswer; readonly onClose: () => void }) {
  const [draft] = useState(() => copyOf(job))
  const title = text.title(job.name)
  if ('refusal' in draft)
    return (
      <Modal title={title} onClose={onClose}>
        <div class="content-text">
          <p>{draft.refusal}</p>
        </div>
      </Modal>
    )
  return <NewJobDialog title={title} note={text.note} draft={draft} first="data" onClose={onClose} />
}
