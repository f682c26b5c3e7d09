import { useAnswer } from '../../hooks.ts'
import { Ago } from '../../parts/Ago.tsx'
import { auditRows } from './rows.ts'
import { SETTINGS_TEXT as text } from './text.ts'

const SLOWLY = 5

export function Audit() {
  const entries = useAnswer('/v1/audit', {}, SLOWLY).value?.entries
  const { auditColumns: columns } = text
  return (
    <section class="card" aria-label={text.audit}>
      <header>
        <h2>{text.audit}</h2>
        {entries !== undefined && <span class="muted small">{entries.length === 0 ? text.noAudit : text.auditMore(entries.length)}</span>}
      </header>
      {entries !== undefined && entries.length > 0 && (
        <table class="list audit">
          <thead>
            <tr>
              <th class="at">{columns.at}</th>
              <th>{columns.who}</th>
              <th>{columns.operation}</th>
              <th class="outcome">{columns.outcome}</th>
              <th class="target opt">{columns.target}</th>
            </tr>
          </thead>
          <tbody>
            {auditRows(entries).map(({ id, at, who, operation, outcome, code, target }) => (
              <tr key={id}>
                <td class="muted">
                  <Ago at={at} />
                </td>
                <td>{who}</td>
                <td>{operation}</td>
                <td class={outcome === 'done' ? 'muted' : 's-warn'}>
                  {outcome} {code}
                </td>
                <td class="mono muted opt" title={target}>
                  {target}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
