/** The dialog above the page now: the palette, or the list of keys. */
import { signal } from '@preact/signals'

export const overlay = signal<'palette' | 'keys' | undefined>(undefined)
