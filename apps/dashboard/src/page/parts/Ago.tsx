import { useComputed } from '@preact/signals'
import { ago } from '../format/durations.ts'
import { exactTime } from '../format/times.ts'
import { now, settings } from '../page.ts'
import { memo } from './memo.ts'

/** How long ago something was; the exact time is its title. */
export const Ago = memo(function Ago({ at }: { readonly at: string | number }) {
  const ms = new Date(at).getTime()
  const text = useComputed(() => ago(ms, now.value))
  return (
    <time dateTime={new Date(ms).toISOString()} title={exactTime(ms, settings.zone.value)}>
      {text}
    </time>
  )
})
