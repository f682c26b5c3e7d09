import { useState } from 'preact/hooks'
import { clock } from '../page.ts'
import { TEXT } from '../text.ts'
import { Icon } from './Icon.tsx'

const SHOWN_MS = 1_500

/** A button that copies a text, and shows for a moment that it has. */
export function Copy({
  text,
  label = TEXT.actions.copy,
  named = false,
}: {
  readonly text: string
  readonly label?: string
  readonly named?: boolean
}) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    clock.after(SHOWN_MS, () => setCopied(false))
  }
  return (
    <button type="button" class={named ? 'btn' : 'btn ghost'} aria-label={label} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} />
      {named && (copied ? TEXT.actions.copied : label)}
    </button>
  )
}
