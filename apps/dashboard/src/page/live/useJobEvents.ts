import type { EventAnswer } from '@millrace/http'
import { useEffect } from 'preact/hooks'
import { useStable } from '../hooks.ts'
import { clock, live, router } from '../page.ts'
import { GROUPS } from './eventTypes.ts'
import { Follow, openEventSource } from './follow.ts'

const open = openEventSource([...GROUPS.jobs, 'gap'])

/** Calls at the events of the job from now on, while the page is live. */
export function useJobEvents(id: string, onEvents: (events: readonly EventAnswer[]) => void): void {
  const take = useStable(onEvents)
  useEffect(() => {
    const urlOf = (after: number | 'now') => router.to('/v1/events', { jobId: id, after: `${after}` })
    return new Follow<EventAnswer>({ open, clock, running: live.pace.running, after: 'now', urlOf, take }).start()
  }, [id])
}
