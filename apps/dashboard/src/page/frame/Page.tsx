/** A screen within the frame: the top bar, with what the screen puts there, and below it the screen itself. */
import type { ComponentChildren } from 'preact'
import { router } from '../page.ts'
import { Icon } from '../parts/Icon.tsx'
import { TEXT } from '../text.ts'
import { Banners } from './Banners.tsx'
import { LiveControl } from './LiveControl.tsx'
import { overlay } from './overlay.ts'

export const MAIN = 'main'

interface Props {
  /** The name of the screen: the class `{name}-screen` bounds its styles. */
  readonly name: string
  readonly title: string
  /** The screen above this one: its path and its title. */
  readonly above?: readonly [path: string, title: string]
  /** Beside the title: the period, or what makes something new. */
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

export function Page({ name, title, above, tools, children }: Props) {
  return (
    <main id={MAIN} tabIndex={-1} class={`main ${name}-screen`}>
      <div class="top">
        {above !== undefined && (
          <a class="crumb" href={router.to(above[0])}>
            {above[1]}
          </a>
        )}
        <h1>{title}</h1>
        {tools}
        <button type="button" class="search" aria-label={TEXT.frame.search} onClick={() => (overlay.value = 'palette')}>
          <Icon name="search" />
          <span class="wide">{TEXT.frame.search}</span>
          <kbd class="wide">/</kbd>
        </button>
        <LiveControl />
      </div>
      <Banners />
      <div class="page">{children}</div>
    </main>
  )
}
