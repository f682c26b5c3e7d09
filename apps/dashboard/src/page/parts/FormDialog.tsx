import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { message } from '../actions/toast.ts'
import { TEXT } from '../text.ts'
import { Modal } from './Modal.tsx'

export interface FormDialogProps {
  readonly title: string
  /** The label of the button that sends it: it says what happens. */
  readonly action: string
  /** The label of the button that closes it. Default: Cancel. */
  readonly dismiss?: string
  readonly isDanger?: boolean
  /** False while it cannot be sent. */
  readonly isReady?: boolean
  /** Set for fields side by side. */
  readonly isWide?: boolean
  /** Resolves with true if it has happened, which closes the dialog. */
  readonly onSubmit: () => Promise<boolean>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog with a form. If what it sends is refused, it stays open and says why. */
export function FormDialog({
  title,
  action,
  dismiss = TEXT.actions.cancel,
  isDanger,
  isReady = true,
  isWide,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const submit = async () => {
    setBusy(true)
    const isDone = await onSubmit()
    setBusy(false)
    if (isDone) return onClose()
    // The toast lies behind the dialog: what it says moves in here.
    setRefusal(message.peek()?.text)
    message.value = undefined
  }
  const onEvent = (event: Event) => {
    event.preventDefault()
    if (isReady && !isBusy) void submit()
  }
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={onEvent}>
        <div class={isWide ? 'content-text fields' : 'content-text'}>
          {children}
          {refusal !== undefined && (
            <p class="whole s-bad" role="alert">
              {refusal}
            </p>
          )}
        </div>
        <footer>
          <button type="button" class="btn" onClick={onClose}>
            {dismiss}
          </button>
          <button type="submit" class={isDanger ? 'btn danger' : 'btn primary'} disabled={!isReady || isBusy}>
            {action}
          </button>
        </footer>
      </form>
    </Modal>
  )
}
