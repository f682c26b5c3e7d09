import { useAnswer } from '../../hooks.ts'
import { Ago } from '../../parts/Ago.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { type AuditRow, auditRows } from './rows.ts'
import { SETTINGS_TEXT as text } from './text.ts'

const SLOWLY = 5
const { auditColumns: columns } = text

const COLUMNS: readonly Column<AuditRow>[] = [
  { head: columns.at, style: 'at muted', cell: ({ at }) => <Ago at={at} /> },
  { head: columns.who, cell: ({ who }) => who },
  { head: columns.operation, cell: ({ operation }) => operation },
  {
    ...{ head: columns.outcome, style: 'outcome' },
    tone: ({ outcome }) => (outcome === 'done' ? 'muted' : 's-warn'),
    cell: ({ outcome, code }) => `${outcome} ${code ?? ''}`,
  },
  { head: columns.target, style: 'target mono muted opt', title: ({ target }) => target, cell: ({ target }) => target },
]

export function Audit() {
  const entries = useAnswer('/v1/audit', {}, SLOWLY).value?.entries
  return (
    <section class="card" aria-label={text.audit}>
      <header>
        <h2>{text.audit}</h2>
        {entries !== undefined && <span class="muted small">{entries.length === 0 ? text.noAudit : text.auditMore(entries.length)}</span>}
      </header>
      {entries !== undefined && entries.length > 0 && (
        <Table name="audit" rows={auditRows(entries)} columns={COLUMNS} keyOf={({ id }) => id} />
      )}
    </section>
  )
}
