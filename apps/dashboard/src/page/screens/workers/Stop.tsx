import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { Ask } from '../../parts/Ask.tsx'
import { Segments } from '../../parts/Segments.tsx'
import type { WorkerRow } from './rows.ts'
import { text } from './text.ts'

const { stopping } = text
const WAITS = ['null', '5m', '30s'] as const
type Wait = (typeof WAITS)[number]

/** Asks before a worker goes: how long it may finish what it runs. */
export function Stop({ row: { id, jobs }, onClose }: { readonly row: WorkerRow; readonly onClose: () => void }) {
  const [wait, setWait] = useState<Wait>('null')
  const path = `/v1/workers/${encodeURIComponent(id)}/stop`
  const confirm = () => act({ path, body: { timeout: wait === 'null' ? null : wait }, done: stopping.done(id) })
  return (
    <Ask title={stopping.title(id)} action={stopping.confirm(id)} onConfirm={confirm} onClose={onClose}>
      <p>{stopping.text(jobs)}</p>
      <div class="inline">
        <span class="muted">{stopping.wait}</span>
        <Segments
          label={stopping.wait}
          options={WAITS.map((each) => [each, stopping.waits[each]] as const)}
          value={wait}
          onChange={setWait}
        />
      </div>
      {wait !== 'null' && <p class="muted">{stopping.later}</p>}
    </Ask>
  )
}
