/** The endpoints that get events: which fail, which are behind, and how to turn one on and off. */
import { useMemo, useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { count } from '../../format/numbers.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared, useStats } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Ask } from '../../parts/Ask.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { jobsLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { type WebhookRow, webhookRows } from './rows.ts'
import { WEBHOOKS_TEXT as text } from './text.ts'

const RARELY = 150
/** The queue of deliveries to endpoints, in the daemon. */
const QUEUE = 'webhooks'
const { columns } = text

export function Webhooks() {
  const info = useAnswer('/v1/info', {}, RARELY).value
  return (
    <Page name="webhooks" title={TEXT.screens.webhooks}>
      {info !== undefined && (info.on.webhooks ? <List /> : <Empty icon="external" title={text.off.title} text={text.off.text} />)}
    </Page>
  )
}

function List() {
  const webhooks = useAnswer('/v1/webhooks').value?.webhooks
  const seq = useStats().value?.seq
  const rows = useShared(webhooks && seq !== undefined ? webhookRows(webhooks, seq) : undefined)
  const [disabled, setDisabled] = useState<string>()
  const table = useMemo(() => [...COLUMNS, actionsColumn(setDisabled)], [])
  if (rows === undefined) return null
  if (rows.length === 0) return <None />
  const { disabling } = text
  return (
    <section class="card" aria-label={text.list}>
      <Table name="webhooks" rows={rows} columns={table} keyOf={({ id }) => id} />
      {disabled !== undefined && (
        <Ask
          isDanger
          title={disabling.title(disabled)}
          action={disabling.action}
          onConfirm={() => act({ path: `/v1/webhooks/${disabled}/disable`, done: text.disabled(disabled) })}
          onClose={() => setDisabled(undefined)}
        >
          <p>{disabling.text}</p>
        </Ask>
      )}
    </section>
  )
}

function None() {
  const { title, text: about, command } = text.none
  return (
    <Empty icon="external" title={title} text={about}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways by the arrow keys */}
      <pre tabIndex={0}>{command}</pre>
      <div class="do">
        <Copy text={command} named />
      </div>
    </Empty>
  )
}

const COLUMNS: readonly Column<WebhookRow>[] = [
  { head: columns.id, style: 'strong', cell: ({ id }) => id },
  { head: columns.url, style: 'url muted opt', title: ({ url }) => url, cell: ({ url }) => url },
  {
    ...{ head: columns.events, style: 'events muted opt' },
    title: ({ events }) => events,
    cell: ({ events, only }) => (
      <>
        {events} {only !== undefined && <span class="mono faint">{text.only(only)}</span>}
      </>
    ),
  },
  {
    head: columns.state,
    tone: ({ tone }) => tone,
    cell: ({ state, failingSince }) => (
      <>
        {text.states[state]} {state === 'failing' && failingSince !== undefined && <Ago at={failingSince} />}
      </>
    ),
  },
  { head: columns.behind, style: 'r muted opt', cell: ({ behind }) => count(behind) },
]

const actionsColumn = (onDisable: (id: string) => void): Column<WebhookRow> => ({
  ...{ head: columns.actions, style: 'fit' },
  cell: (row) => <Actions row={row} onDisable={onDisable} />,
})

function Actions({ row: { id, isEnabled }, onDisable }: { readonly row: WebhookRow; readonly onDisable: (id: string) => void }) {
  const enable = (replay: boolean) => void act({ path: `/v1/webhooks/${id}/enable`, body: { replay }, done: text.enabled(id) })
  const tag = `endpoint:${id}`
  return (
    <Menu label={TEXT.actions.menu(id)} button={<Icon name="more" />}>
      <a class="item" href={router.to(jobsLink({ queue: QUEUE, tag }))}>
        {text.deliveries}
      </a>
      <a class="item" href={router.to(jobsLink({ queue: QUEUE, tag, state: 'failed' }))}>
        {text.failed}
      </a>
      {sessions.can('admin') && (
        <button type="button" class="item" onClick={() => void act({ path: `/v1/webhooks/${id}/test`, done: text.tested(id) })}>
          {text.test}
        </button>
      )}
      {sessions.can('admin') && !isEnabled && (
        <>
          <button type="button" class="item" onClick={() => enable(false)}>
            {text.enable}
          </button>
          <button type="button" class="item" onClick={() => enable(true)}>
            {text.replay}
          </button>
        </>
      )}
      {sessions.can('admin') && isEnabled && (
        <button type="button" class="item" onClick={() => onDisable(id)}>
          {text.disable}
        </button>
      )}
    </Menu>
  )
}
