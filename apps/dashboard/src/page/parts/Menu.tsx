import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

interface Props {
  readonly label: string
  /** The content of the button. */
  readonly button: ComponentChildren
  readonly children: ComponentChildren
  readonly class?: string
}

const MARGIN_PX = 6

/** A button with a small panel, which the browser opens and closes as a popover. */
export function Menu({ label, button, children, class: style = 'btn ghost' }: Props) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const place = () => {
    if (opener.current !== null && panel.current !== null) placeBeside(opener.current, panel.current)
  }
  return (
    <>
      <button ref={opener} type="button" class={style} aria-label={label} popovertarget={id}>
        {button}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click on one of its buttons closes it */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys press the buttons */}
      <div ref={panel} id={id} popover="auto" class="menu" onToggle={place} onClick={() => panel.current?.hidePopover()}>
        {children}
      </div>
    </>
  )
}

/** Below the button where there is room, above it otherwise; never beyond the edges of the window. */
function placeBeside(opener: Element, panel: HTMLElement): void {
  const { left, right, top, bottom } = opener.getBoundingClientRect()
  const { width, height } = panel.getBoundingClientRect()
  const { innerWidth, innerHeight } = window
  const x = left + width > innerWidth - MARGIN_PX ? right - width : left
  const y = bottom + height + MARGIN_PX > innerHeight ? top - height - MARGIN_PX : bottom + MARGIN_PX
  panel.style.setProperty('--x', `${Math.max(MARGIN_PX, x)}px`)
  panel.style.setProperty('--y', `${Math.max(MARGIN_PX, y)}px`)
}
