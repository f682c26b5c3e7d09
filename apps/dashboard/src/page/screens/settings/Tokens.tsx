import { useMemo, useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { useAnswer } from '../../hooks.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Ask } from '../../parts/Ask.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { NewToken } from './NewToken.tsx'
import { boundsOf, type Token, tokenRows } from './rows.ts'
import { SETTINGS_TEXT as text } from './text.ts'

/** Beats between two questions: a token's last use is known to the minute. */
const SLOWLY = 15
const { tokenColumns: columns, revoking } = text

export function Tokens() {
  const tokens = useAnswer('/v1/tokens', {}, SLOWLY).value?.tokens
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const table = useMemo(() => [...COLUMNS, revokeColumn(setRevoked)], [])
  return (
    <section class="card" aria-label={text.tokens}>
      <header>
        <h2>{text.tokens}</h2>
        <div class="end">
          <button type="button" class="btn" onClick={() => setCreating(true)}>
            <Icon name="plus" size={13} />
            {text.create}
          </button>
        </div>
      </header>
      <Table name="tokens" rows={tokenRows(tokens ?? [])} columns={table} keyOf={({ id }) => id} />
      {isCreating && <NewToken onClose={() => setCreating(false)} />}
      {revoked !== undefined && (
        <Ask
          isDanger
          title={revoking.title(revoked.name)}
          action={revoking.action}
          onConfirm={() =>
            act({ method: 'DELETE', path: `/v1/tokens/${encodeURIComponent(revoked.id)}`, done: revoking.done(revoked.name) })
          }
          onClose={() => setRevoked(undefined)}
        >
          <p>{revoking.text}</p>
        </Ask>
      )}
    </section>
  )
}

const isRevoked = ({ revokedAt }: Token) => revokedAt !== undefined

const scopesOf = ({ scopes }: Token) => scopes.join(', ')

const COLUMNS: readonly Column<Token>[] = [
  { head: columns.name, tone: (token) => (isRevoked(token) ? 'muted' : 'strong'), cell: ({ name }) => name },
  { head: columns.scopes, style: 'muted', title: scopesOf, cell: scopesOf },
  { head: columns.serves, style: 'mono muted opt', cell: boundsOf },
  { head: columns.created, style: 'muted opt', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    ...{ head: columns.used, style: 'muted' },
    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? text.never : <Ago at={lastUsedAt} />),
  },
]

const revokeColumn = (onRevoke: (token: Token) => void): Column<Token> => ({
  ...{ head: columns.actions, style: 'fit' },
  cell: (token) =>
    isRevoked(token) ? (
      <span class="tag">{text.revoked}</span>
    ) : (
      <button type="button" class="btn" onClick={() => onRevoke(token)}>
        {text.revoke}
      </button>
    ),
})
