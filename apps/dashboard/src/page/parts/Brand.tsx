import type { ComponentChildren } from 'preact'
import { TEXT } from '../text.ts'

export function Brand({ children }: { readonly children?: ComponentChildren }) {
  return (
    <div class="brand">
      <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
        <rect width="22" height="22" rx="6" class="mark" />
        <path d="M3.5 8.2c2.5-2 5-2 7.5 0s5 2 7.5 0M3.5 13.6c2.5-2 5-2 7.5 0s5 2 7.5 0" class="waves" />
      </svg>
      {TEXT.brand}
      {children}
    </div>
  )
}
