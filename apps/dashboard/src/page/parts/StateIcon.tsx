import type { STATES } from '../text.ts'
import { Icon } from './Icon.tsx'

/** A state of jobs as people look for it: one that failed and will run again counts as retrying. */
export type ShownState = keyof typeof STATES | 'retrying'

export function StateIcon({ state, size = 13 }: { readonly state: ShownState; readonly size?: number }) {
  return (
    <span class={`s-${state}`}>
      <Icon name={`s-${state}`} size={size} />
    </span>
  )
}
