import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { TEXT } from '../text.ts'
import { Field } from './Field.tsx'
import { Modal } from './Modal.tsx'

interface Props {
  readonly title: string
  /** The label of the button that does it: it says what happens, and to how many. */
  readonly action: string
  /** Set if what goes cannot be brought back. */
  readonly isDanger?: boolean
  /** A name that has to be typed before the button works. */
  readonly typed?: string
  /** False while it is not known yet what would happen. */
  readonly isReady?: boolean
  /** Resolves with true if it has happened, which closes the dialog. */
  readonly onConfirm: () => Promise<boolean>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks before something happens: a dialog that says what it is, with one button that does it. */
export function Ask({ title, action, isDanger = false, typed, isReady = true, onConfirm, onClose, children }: Props) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const isMeant = typed === undefined || text === typed
  const confirm = async () => {
    setBusy(true)
    const isDone = await onConfirm()
    setBusy(false)
    if (isDone) onClose()
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (isReady && isMeant && !isBusy) void confirm()
  }
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <div class="content-text">
          {children}
          {typed !== undefined && <Field label={TEXT.actions.typed(typed)} value={text} onChange={setText} />}
        </div>
        <footer>
          <button type="button" class="btn" onClick={onClose}>
            {TEXT.actions.cancel}
          </button>
          <button type="submit" class={isDanger ? 'btn danger' : 'btn primary'} disabled={!isReady || !isMeant || isBusy}>
            {action}
          </button>
        </footer>
      </form>
    </Modal>
  )
}
