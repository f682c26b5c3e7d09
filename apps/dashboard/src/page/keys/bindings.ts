/** The keys that work now, and the listener that finds what they do. */
import { signal } from '@preact/signals'
import { type Begun, type Binding, press } from './keymap.ts'

type Source = () => readonly Binding[]

class Bindings {
  readonly #sources = signal<readonly Source[]>([])

  /** Returns a function that takes them away. */
  add(source: Source): () => void {
    this.#sources.value = [...this.#sources.value, source]
    return () => {
      this.#sources.value = this.#sources.value.filter((each) => each !== source)
    }
  }

  get all(): readonly Binding[] {
    return this.#sources.value.flatMap((source) => source())
  }
}

export const bindings = new Bindings()

/** Listens to keys until the page is gone. A dialog that is open has the keys to itself. */
export function listenToKeys(document: Document, now: () => number): void {
  let begun: Begun | undefined
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || document.querySelector('dialog[open]') !== null || isPressed(event)) return
    const { key, shiftKey: shift, altKey: alt } = event
    const found = press(
      bindings.all,
      { key, shift, alt, mod: event.metaKey || event.ctrlKey, typing: isField(event.target), at: now() },
      begun,
    )
    begun = found.begun
    if (found.binding === undefined) return
    event.preventDefault()
    found.binding.run()
  })
}

const FIELDS = 'textarea, select, input:not([type=checkbox], [type=radio]), [contenteditable]'

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(FIELDS)
}

/** Enter and Space belong to the button, the link or the box that has the focus. */
function isPressed({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false
  if (key === 'Enter') return target.matches('a, button, summary')
  return key === ' ' && target.matches('button, summary, input')
}
