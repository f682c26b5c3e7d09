import { bindings } from '../keys/bindings.ts'
import type { Binding } from '../keys/keymap.ts'
import { Modal } from '../parts/Modal.tsx'
import { TEXT } from '../text.ts'
import { overlay } from './overlay.ts'

const ON_MAC = /Mac|iPhone|iPad/.test(navigator.platform)
const SIGNS: Readonly<Record<string, string>> = {
  ...(ON_MAC ? { mod: '⌘', shift: '⇧' } : { mod: 'Ctrl', shift: 'Shift' }),
  Escape: 'Esc',
  ' ': 'Space',
}

/** Every key that works on the screen that is shown. */
export function KeyList() {
  const groups = Map.groupBy(bindings.all, ({ group }) => group)
  return (
    <Modal title={TEXT.keys.title} onClose={() => (overlay.value = undefined)}>
      <div class="keys">
        {[...groups].map(([group, members]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>{members.map(row)}</dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}

function row({ keys, label }: Binding) {
  const parts = keys === ' ' ? [' '] : keys.split(/[ +](?=.)/)
  return (
    <div key={keys}>
      <dt>{label}</dt>
      <dd>
        {parts.map((part) => (
          <kbd key={part}>{SIGNS[part] ?? part}</kbd>
        ))}
      </dd>
    </div>
  )
}
