/** Follows the events of a job. A tab that is hidden closes its stream, because a browser has six connections to a host. */
import type { EventAnswer } from '@millrace/http'
import { useEffect, useRef } from 'preact/hooks'
import { live, router } from '../page.ts'

const JOB_EVENTS = [
  ...(['enqueued', 'started', 'progress', 'retrying', 'completed', 'failed', 'cancelled'] as const),
  ...(['snoozed', 'stalled', 'released', 'updated', 'promoted', 'deleted'] as const),
] as const satisfies readonly EventAnswer['type'][]

/** Calls at each event of the job from now on, while the page is live. What happened in between is the caller's to ask. */
export function useJobEvents(id: string, onEvent: (type: EventAnswer['type']) => void): void {
  const call = useRef(onEvent)
  call.current = onEvent
  const isLive = live.pace.running.value
  useEffect(() => {
    if (!isLive) return undefined
    const source = new EventSource(router.to('/v1/events', { jobId: id, after: 'now' }))
    for (const type of JOB_EVENTS) source.addEventListener(type, () => call.current(type))
    return () => source.close()
  }, [id, isLive])
}
