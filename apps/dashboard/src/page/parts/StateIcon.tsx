import type { STATES } from '../text.ts'
import { Icon } from './Icon.tsx'

export function StateIcon({ state, size = 13 }: { readonly state: keyof typeof STATES; readonly size?: number }) {
  return (
    <span class={`s-${state}`}>
      <Icon name={`s-${state}`} size={size} />
    </span>
  )
}
