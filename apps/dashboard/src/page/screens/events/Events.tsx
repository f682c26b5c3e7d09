/** Events as they happen, with a filter that the server applies. The address is all of what is seen. */

import type { EventAnswer } from '@millrace/http'
import { computed, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Page } from '../../frame/Page.tsx'
import { useKeys, useStats } from '../../hooks.ts'
import { TYPES } from '../../live/eventTypes.ts'
import { Follow, openEventSource } from '../../live/follow.ts'
import { apiUrl, clock, live, router } from '../../page.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { EventTable } from './EventTable.tsx'
import { FilterLine } from './FilterLine.tsx'
import { beginningOf, type Filter, filterOf, urlOf } from './filter.ts'
import { type EventRow, KEPT, withEvents } from './rows.ts'
import { EVENTS_TEXT as text } from './text.ts'

const openStream = openEventSource([...TYPES, 'gap'])

export function Events({ query }: ScreenProps) {
  const stats = useStats().value
  const filter = filterOf(query)
  const key = JSON.stringify(filter)
  const isKnown = stats !== undefined
  // Another filter is another stream, with a list of its own.
  const tail = useMemo(() => (isKnown ? tailOf(filter, stats.seq) : undefined), [key, isKnown])
  useEffect(() => tail?.follow.start(), [tail])
  const toggle = () => {
    if (tail !== undefined) tail.isPaused.value = !tail.isPaused.value
  }
  useKeys([
    { keys: 'p', label: text.keyPause, group: text.group, run: toggle },
    { keys: 'f', label: text.keyFilter, group: text.group, run: () => document.querySelector<HTMLElement>('.filters select')?.focus() },
  ])
  const rows = tail?.rows.value ?? []
  const state = tail?.follow.state.value ?? 'opening'
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Page name="events" title={TEXT.screens.events}>
      <FilterLine filter={filter} stats={stats} onChange={(change) => router.amend(change)}>
        <span class="end muted num" role="status">
          {state === 'down' ? text.state.down : `${text.state[state]} · ${text.shown(rows.length, KEPT)}`}
        </span>
        <button type="button" class="btn" onClick={toggle} aria-keyshortcuts="p">
          <Icon name={tail?.isPaused.value === true ? 'play' : 'pause'} size={13} />
          {tail?.isPaused.value === true ? text.resume : text.pause}
        </button>
      </FilterLine>
      <section class="card rows" aria-label={text.list}>
        {rows.length === 0 && state !== 'opening' ? (
          <Empty icon="events" title={text.none.title} text={isFiltered ? text.none.filtered : text.none.text} />
        ) : (
          <EventTable rows={rows} />
        )}
      </section>
    </Page>
  )
}

function tailOf(filter: Filter, seq: number) {
  const rows = signal<readonly EventRow[]>([])
  const isPaused = signal(false)
  const { pace } = live
  const follow = new Follow<EventAnswer>({
    open: openStream,
    clock,
    // The rate of the page says how often it asks, which a stream does not.
    running: computed(() => !isPaused.value && !pace.paused.value && !pace.hidden.value && !pace.over.value),
    after: beginningOf(filter, seq),
    urlOf: (after) => apiUrl + urlOf(filter, after),
    take: (events) => {
      rows.value = withEvents(rows.peek(), events)
    },
  })
  return { rows, isPaused, follow }
}
