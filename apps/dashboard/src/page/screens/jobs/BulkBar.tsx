/** Says how many jobs are selected and which, and what can be done with them. It counts what nobody sees. */
import { asked } from '../../actions/asked.ts'
import type { Bulk } from '../../actions/bulk.ts'
import { useCount } from '../../actions/useCount.ts'
import { count } from '../../format/numbers.ts'
import { clockTime } from '../../format/times.ts'
import { useKeys } from '../../hooks.ts'
import { now, settings } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { bulksOf, type Scope } from './bulks.ts'
import { isFinished } from './filter.ts'
import { JOBS_TEXT } from './text.ts'

const { bulk: text, keys } = JOBS_TEXT

interface Props {
  readonly scope: Scope
  /** False while keys mean the job beside the list. */
  readonly hasKeys: boolean
  readonly onClear: () => void
}

export function BulkBar({ scope, hasKeys, onClear }: Props) {
  const { selection, tab } = scope
  const bulks = bulksOf(scope, now.peek())
  const matched = useCount(selection.allAt === undefined ? undefined : bulks[0])
  const number = selection.allAt === undefined ? count(selection.ids.size) : matched
  const retry = bulks.find(({ word }) => word === 'retry')
  const ask = (bulk: Bulk) => {
    asked.value = bulk
  }
  useKeys([
    ...(hasKeys && retry !== undefined ? [{ keys: 'r', label: text.retry, group: keys.group, run: () => ask(retry) }] : []),
    ...(hasKeys ? [{ keys: 'Escape', label: text.clear, group: keys.group, run: onClear }] : []),
  ])
  return (
    <div class="bulk" role="toolbar" aria-label={text.label}>
      <span class="num" role="status">
        {selection.allAt === undefined ? (
          <strong>{text.some(number ?? '')}</strong>
        ) : (
          <>
            <strong>{text.all(number)}</strong>{' '}
            <span class="muted">{text.scope(isFinished(tab), clockTime(selection.allAt, settings.zone.value))}</span>
          </>
        )}
      </span>
      <span class="sep" />
      {bulks.map((bulk) => (
        <button key={bulk.word} type="button" class={bulk.word === 'retry' ? 'btn primary' : 'btn'} onClick={() => ask(bulk)}>
          {bulk.word === 'retry' && <Icon name="retry" size={13} />}
          {text.act[bulk.word](number ?? '')}
          {bulk.word === 'retry' && hasKeys && <kbd>r</kbd>}
        </button>
      ))}
      <button type="button" class="btn ghost" aria-label={text.clear} onClick={onClear}>
        <Icon name="x" size={13} />
      </button>
    </div>
  )
}
