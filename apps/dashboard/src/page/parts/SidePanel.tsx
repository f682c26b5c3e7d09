import type { ComponentChildren } from 'preact'
import { useKeys } from '../hooks.ts'
import { TEXT } from '../text.ts'
import { Icon } from './Icon.tsx'

interface Props {
  /** The kind of thing that it shows, for screen readers. */
  readonly label: string
  /** Before the title: an icon. */
  readonly lead?: ComponentChildren
  readonly title: string
  /** Behind the title: what tells it from others of its kind. */
  readonly note?: ComponentChildren
  /** Before the button that closes it. */
  readonly tools?: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A card beside a list, about the row that was chosen. Its button and Escape close it. */
export function SidePanel({ label, lead, title, note, tools, onClose, children }: Props) {
  useKeys([{ keys: 'Escape', label: TEXT.actions.close, group: TEXT.keys.page, run: onClose }])
  return (
    <aside class="card side-panel" aria-label={label}>
      <header>
        {lead}
        <h2 class="cut">{title}</h2>
        {note}
        <div class="end">
          {tools}
          <button type="button" class="btn ghost" aria-label={TEXT.actions.close} onClick={onClose}>
            <Icon name="x" size={13} />
          </button>
        </div>
      </header>
      {children}
    </aside>
  )
}
