import { count } from '../../format/numbers.ts'
import { ROWS_MAX } from '../../window/rows.ts'
import { JOBS_TEXT as text } from './text.ts'
import type { JobList } from './useJobList.ts'

interface Props {
  readonly list: JobList
  /** How many jobs the tab has, whatever is searched for; undefined if nobody counts them. */
  readonly all: number | undefined
}

/** The end of the list: a button for more, how far a search is, or why it ends here. */
export function ListEnd({ list: { pages, isLoading, isStopped, error, more, stop, showNewest }, all }: Props) {
  const found = pages?.jobs.length ?? 0
  const isSearch = all !== undefined && pages !== undefined && pages.scanned > 0
  if (error !== undefined) {
    return (
      <div class="list-end" role="alert">
        <span class="s-bad">{text.refused(error)}</span>
        {pages?.next !== undefined && <Button label={text.goOn} run={more} />}
      </div>
    )
  }
  if (pages === undefined) return null
  if (pages.isBehind) {
    return (
      <div class="list-end" role="status">
        <span>{text.behind}</span>
        <Button label={text.showNewest} run={showNewest} />
      </div>
    )
  }
  if (found >= ROWS_MAX) return <p class="list-end">{text.atMost(count(ROWS_MAX))}</p>
  if (pages.next === undefined) return null
  if (isLoading) {
    return (
      <div class="list-end" role="status">
        <span>{isSearch ? text.searching(pages.scanned, all, found) : text.loading(found)}</span>
        <Button label={text.stop} run={stop} />
      </div>
    )
  }
  return (
    <div class="list-end">
      {isStopped && isSearch && <span>{text.stopped(pages.scanned, all, found)}</span>}
      <Button label={isStopped ? text.goOn : text.more} run={more} />
    </div>
  )
}

function Button({ label, run }: { readonly label: string; readonly run: () => void }) {
  return (
    <button type="button" class="btn" onClick={run}>
      {label}
    </button>
  )
}
