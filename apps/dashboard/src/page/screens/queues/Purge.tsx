import type { PurgeAnswer } from '@millrace/http'
import { useEffect, useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { api } from '../../page.ts'
import { Ask } from '../../parts/Ask.tsx'
import { TEXT } from '../../text.ts'
import { text } from './text.ts'

const { purging } = text
/** The states of jobs that have ended: they go only if asked for. */
const ENDED = ['completed', 'failed', 'cancelled'] as const
const YET_TO_END = ['scheduled', 'waiting', 'blocked'] as const

/** Counts what would go, and asks for the name of the queue before it goes. */
export function Purge({ queue, onClose }: { readonly queue: string; readonly onClose: () => void }) {
  const [isAll, setAll] = useState(false)
  const { counted, error } = useCount(queue, isAll)
  const states = isAll ? [...YET_TO_END, ...ENDED] : YET_TO_END
  const path = `/v1/queues/${encodeURIComponent(queue)}/purge`
  const confirm = () => act({ path, body: { states, dryRun: false }, done: purging.done(counted?.count ?? 0, queue) })
  const shown = Object.entries(counted?.states ?? {}).filter(([, jobs]) => jobs > 0)
  return (
    <Ask
      isDanger
      title={purging.title(queue)}
      action={purging.confirm(counted?.count)}
      typed={queue}
      isReady={counted !== undefined && counted.count > 0}
      onConfirm={confirm}
      onClose={onClose}
    >
      {error !== undefined && (
        <p class="s-bad" role="alert">
          {TEXT.actions.failed(error)}
        </p>
      )}
      {error === undefined && (
        <p>{counted === undefined ? purging.counting : counted.count === 0 ? purging.none : purging.text(counted.count)}</p>
      )}
      {shown.length > 0 && <p class="muted num">{shown.map(([state, jobs]) => purging.states(state, jobs)).join(', ')}</p>}
      {counted !== undefined && counted.active > 0 && <p class="muted">{purging.left(counted.active)}</p>}
      <label class="check">
        <input type="checkbox" checked={isAll} onChange={({ currentTarget }) => setAll(currentTarget.checked)} />
        {purging.ended}
      </label>
    </Ask>
  )
}

function useCount(queue: string, isAll: boolean) {
  const [counted, setCounted] = useState<PurgeAnswer>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    let isOver = false
    setCounted(undefined)
    const body = { states: isAll ? [...YET_TO_END, ...ENDED] : YET_TO_END, dryRun: true }
    api.send('POST', `/v1/queues/${encodeURIComponent(queue)}/purge`, body).then(
      (answer) => isOver || setCounted(answer as PurgeAnswer),
      (refused: Error) => isOver || setError(refused.message),
    )
    return () => {
      isOver = true
    }
  }, [queue, isAll])
  return { counted, error }
}
