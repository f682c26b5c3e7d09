import type { IconName } from './icons.ts'

export function Icon({ name, size = 14 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}
