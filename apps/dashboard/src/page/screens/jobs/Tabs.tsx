import { count } from '../../format/numbers.ts'
import { router } from '../../page.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { STATES } from '../../text.ts'
import { TABS, type Tab, type TabCounts } from './tabs.ts'
import { JOBS_TEXT as text } from './text.ts'

/** Each state with its number; the query stays the same. */
export function Tabs({ current, counts, line }: { readonly current: Tab; readonly counts: TabCounts | undefined; readonly line: string }) {
  return (
    <nav class="tabs" aria-label={text.tabs}>
      {TABS.map((tab) => (
        <a
          key={tab}
          href={router.to('/jobs', { state: tab === 'all' ? undefined : tab, q: line })}
          aria-current={tab === current ? 'page' : undefined}
        >
          {tab !== 'all' && <StateIcon state={tab} />}
          {tab === 'all' ? text.all : STATES[tab]}
          {counts !== undefined && <span class="n">{count(counts[tab])}</span>}
        </a>
      ))}
    </nav>
  )
}
