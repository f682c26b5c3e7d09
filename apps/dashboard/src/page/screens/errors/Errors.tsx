/** The groups of failures: what fails, where, how often, and since when. One of them is open beside the list. */
import { Page } from '../../frame/Page.tsx'
import { useFailures, useKeys, useShared, useStable } from '../../hooks.ts'
import { now, router } from '../../page.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { FailurePanel } from './FailurePanel.tsx'
import { GroupTable } from './GroupTable.tsx'
import { groupOf, groupRows, idOf, ORDERS, orderOf } from './groups.ts'
import { ERRORS_TEXT as text } from './text.ts'

const GROUPS_READ = 200

export function Errors({ query: { q = '', order: asked, group } }: ScreenProps) {
  const { value, error } = useFailures(GROUPS_READ)
  const failures = value?.failures ?? []
  const order = orderOf(asked)
  const rows = useShared(groupRows(failures, q, order, now.peek()))
  const open = groupOf(groupRows(failures, '', order, now.peek()), group)
  const show = useStable((id: string | undefined) => router.amend({ group: id }))
  const move = (step: number) => {
    const at = rows.findIndex(({ id }) => id === open?.id)
    const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
    if (next === undefined) return
    show(next.id)
    document.querySelector<HTMLElement>(`tr[data-group="${CSS.escape(next.id)}"] button`)?.focus()
  }
  const key = (keys: string, label: string, run: () => void) => ({ keys, label, group: text.keys.group, run })
  useKeys([
    key('j', text.keys.next, () => move(1)),
    key('k', text.keys.previous, () => move(-1)),
    key('f', text.keys.filter, () => document.querySelector<HTMLElement>('[data-query]')?.focus()),
  ])
  return (
    <Page name="errors" title={TEXT.screens.errors}>
      <search class="query">
        <Icon name="search" />
        <div class="typed">
          <input
            aria-label={text.filter}
            placeholder={text.hint}
            value={q}
            autocomplete="off"
            spellcheck={false}
            data-query
            onInput={({ currentTarget }) => router.amend({ q: currentTarget.value })}
            onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          />
        </div>
        <Segments
          label={text.order}
          options={ORDERS.map((each) => [each, text.orders[each]] as const)}
          value={order}
          onChange={(each) => router.amend({ order: each === 'newest' ? undefined : each })}
        />
      </search>
      {error !== undefined && value === undefined && <p class="note s-bad">{TEXT.actions.failed(error.message)}</p>}
      <div class={open === undefined ? 'stack' : 'cols'}>
        {value !== undefined && rows.length === 0 ? (
          <Empty icon="errors" {...(failures.length === 0 ? text.none : text.noMatch)} />
        ) : (
          <section class="card rows" aria-label={text.list}>
            <GroupTable rows={rows} openId={open?.id} onOpen={show} />
          </section>
        )}
        {open !== undefined && <FailurePanel key={idOf(open.failure)} failure={open.failure} onClose={() => show(undefined)} />}
      </div>
    </Page>
  )
}
