import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { useAnswer } from '../../hooks.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Ask } from '../../parts/Ask.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { NewToken } from './NewToken.tsx'
import { boundsOf, type Token, tokenRows } from './rows.ts'
import { SETTINGS_TEXT as text } from './text.ts'

/** Beats between two questions: a token's last use is known to the minute. */
const SLOWLY = 15

export function Tokens() {
  const tokens = useAnswer('/v1/tokens', {}, SLOWLY).value?.tokens
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const { tokenColumns: columns, revoking } = text
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
      <table class="list">
        <thead>
          <tr>
            <th>{columns.name}</th>
            <th>{columns.scopes}</th>
            <th class="opt">{columns.serves}</th>
            <th class="opt">{columns.created}</th>
            <th>{columns.used}</th>
            <th class="fit">
              <span class="visually-hidden">{columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokenRows(tokens ?? []).map((token) => (
            <Row key={token.id} token={token} onRevoke={() => setRevoked(token)} />
          ))}
        </tbody>
      </table>
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

function Row({ token, onRevoke }: { readonly token: Token; readonly onRevoke: () => void }) {
  const { name, scopes, createdAt, lastUsedAt, revokedAt } = token
  const isRevoked = revokedAt !== undefined
  return (
    <tr>
      <td class={isRevoked ? 'muted' : 'strong'}>{name}</td>
      <td class="muted" title={scopes.join(', ')}>
        {scopes.join(', ')}
      </td>
      <td class="mono muted opt">{boundsOf(token)}</td>
      <td class="muted opt">
        <Ago at={createdAt} />
      </td>
      <td class="muted">{lastUsedAt === undefined ? text.never : <Ago at={lastUsedAt} />}</td>
      <td class="fit">
        {isRevoked ? (
          <span class="tag">{text.revoked}</span>
        ) : (
          <button type="button" class="btn" onClick={onRevoke}>
            {text.revoke}
          </button>
        )}
      </td>
    </tr>
  )
}
