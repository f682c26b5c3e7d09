import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { TEXT } from '../text.ts'
import { Icon } from './Icon.tsx'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Set if the title is for screen readers alone. */
  readonly plain?: boolean
}

/** A dialog above the page. Escape, and a click beside it, close it. */
export function Modal({ title, onClose, children, plain = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  // Before the browser paints: what is typed after the key that opens it goes into it.
  useLayoutEffect(() => {
    ref.current?.showModal()
  }, [])
  return (
    <dialog
      ref={ref}
      class="modal"
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && ref.current?.close()}
      onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}
    >
      <div class="body">
        {!plain && (
          <header>
            <h2>{title}</h2>
            <button type="button" class="btn ghost end" aria-label={TEXT.actions.close} onClick={() => ref.current?.close()}>
              <Icon name="x" size={13} />
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  )
}
