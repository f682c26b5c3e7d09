import type { CreatedTokenAnswer, TokenListAnswer } from '@millrace/http'
import { useState } from 'preact/hooks'
import { tell } from '../../actions/toast.ts'
import { api, live } from '../../page.ts'
import { Copy } from '../../parts/Copy.tsx'
import { Field } from '../../parts/Field.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { TEXT } from '../../text.ts'
import { SETTINGS_TEXT as text } from './text.ts'

type Scope = TokenListAnswer['tokens'][number]['scopes'][number]
const SCOPES = ['read', 'enqueue', 'work', 'admin'] as const satisfies readonly Scope[]
const { creating, created: shown } = text

/** Creates a token, and shows it this once: the page keeps it only while the dialog is open. */
export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read'])
  const [refusal, setRefusal] = useState<string>()
  const [created, setCreated] = useState<CreatedTokenAnswer>()
  const create = async () => {
    try {
      setCreated((await api.send('POST', '/v1/tokens', { name: name.trim(), scopes })) as CreatedTokenAnswer)
      tell(creating.done(name.trim()))
    } catch (error) {
      setRefusal((error as Error).message)
    }
    live.refresh()
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (name.trim() !== '' && scopes.length > 0) void create()
  }
  if (created !== undefined) return <Created created={created} onClose={onClose} />
  const toggle = (scope: Scope) => setScopes(scopes.includes(scope) ? scopes.filter((other) => other !== scope) : [...scopes, scope])
  return (
    <Modal title={creating.title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <div class="content-text">
          <Field label={creating.name} value={name} onChange={setName} hint={creating.nameHint} error={refusal} required />
          <fieldset class="scopes" aria-label={creating.scopes}>
            {SCOPES.map((scope) => (
              <label key={scope}>
                <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
                <strong>{scope}</strong>
                <span class="muted">{creating.about[scope]}</span>
              </label>
            ))}
          </fieldset>
        </div>
        <footer>
          <button type="button" class="btn" onClick={onClose}>
            {TEXT.actions.cancel}
          </button>
          <button type="submit" class="btn primary" disabled={name.trim() === '' || scopes.length === 0}>
            {creating.action}
          </button>
        </footer>
      </form>
    </Modal>
  )
}

function Created({ created: { name, token }, onClose }: { readonly created: CreatedTokenAnswer; readonly onClose: () => void }) {
  return (
    <Modal title={shown.title(name)} onClose={onClose}>
      <div class="content-text">
        <p>{shown.text}</p>
        <p class="secret">
          <code>{token}</code>
          <Copy text={token} label={shown.copy} />
        </p>
      </div>
      <footer>
        <button type="button" class="btn primary" onClick={onClose}>
          {shown.close}
        </button>
      </footer>
    </Modal>
  )
}
