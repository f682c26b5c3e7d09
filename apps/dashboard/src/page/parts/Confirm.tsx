import { TEXT } from '../text.ts'
import { Modal } from './Modal.tsx'

interface Props {
  readonly title: string
  readonly text: string
  /** The word on the button. */
  readonly action: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something is lost. */
export function Confirm({ title, text, action, onConfirm, onClose }: Props) {
  const confirm = () => {
    onClose()
    onConfirm()
  }
  return (
    <Modal title={title} onClose={onClose}>
      <div class="content-text">
        <p>{text}</p>
      </div>
      <footer>
        <button type="button" class="btn" onClick={onClose}>
          {TEXT.actions.cancel}
        </button>
        <button type="button" class="btn danger" onClick={confirm}>
          {action}
        </button>
      </footer>
    </Modal>
  )
}
