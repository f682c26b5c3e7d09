/** The change of many jobs that the user is asked about now. */
import { signal } from '@preact/signals'
import type { Bulk } from './bulk.ts'

export const asked = signal<Bulk | undefined>(undefined)
