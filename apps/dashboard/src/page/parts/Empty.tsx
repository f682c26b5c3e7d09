import type { ComponentChildren } from 'preact'
import { Icon } from './Icon.tsx'
import type { IconName } from './icons.ts'

interface Props {
  readonly icon: IconName
  readonly title: string
  readonly text: string
  readonly children?: ComponentChildren
}

/** In place of a list that has nothing yet: what will be here, and how it comes to be. */
export function Empty({ icon, title, text, children }: Props) {
  return (
    <section class="card empty">
      <span class="s-scheduled">
        <Icon name={icon} size={26} />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </section>
  )
}
