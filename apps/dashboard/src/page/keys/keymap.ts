/** Keys and what they do: one key, or `g` and another. */

export interface Binding {
  /** "r", "g o", "shift+x", "mod+k" (⌘ or Ctrl), "Escape". */
  readonly keys: string
  /** The effect, for the list of keys. */
  readonly label: string
  readonly group: string
  readonly run: () => void
}

export interface Pressed {
  readonly key: string
  readonly mod: boolean
  readonly shift: boolean
  readonly alt: boolean
  /** In a field that takes text. */
  readonly typing: boolean
  readonly at: number
}

/** The first key of two, and when it was pressed. */
export interface Begun {
  readonly key: string
  readonly at: number
}

const SECOND_KEY_MS = 1_500

/** Returns the name of a key as bindings write it. A sign that needs Shift is named by itself: "?". */
export function nameOf({ key, mod, shift }: Pick<Pressed, 'key' | 'mod' | 'shift'>): string {
  const isLetter = /^[a-z]$/i.test(key)
  const named = isLetter ? key.toLowerCase() : key
  return `${mod ? 'mod+' : ''}${shift && (isLetter || key.length > 1) ? 'shift+' : ''}${named}`
}

/** Returns what to run, if anything, and the first key of two, if it was one. Later bindings go before earlier ones. */
export function press(
  bindings: readonly Binding[],
  pressed: Pressed,
  begun: Begun | undefined,
): { readonly binding?: Binding; readonly begun?: Begun } {
  if (pressed.alt || (pressed.typing && !pressed.mod && pressed.key !== 'Escape')) return {}
  const name = nameOf(pressed)
  if (begun !== undefined && pressed.at - begun.at <= SECOND_KEY_MS) {
    const binding = bindings.findLast(({ keys }) => keys === `${begun.key} ${name}`)
    if (binding !== undefined) return { binding }
  }
  const binding = bindings.findLast(({ keys }) => keys === name)
  if (binding !== undefined) return { binding }
  return bindings.some(({ keys }) => keys.startsWith(`${name} `)) ? { begun: { key: name, at: pressed.at } } : {}
}
