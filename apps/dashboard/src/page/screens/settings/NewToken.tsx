import type { CreatedTokenAnswer, TokenListAnswer } from '@millrace/http'
import { useState } from 'preact/hooks'
import { tell } from '../../actions/toast.ts'
import { api, live } from '../../page.ts'
import { Copy } from '../../parts/Copy.tsx'
import { Field } from '../../parts/Field.tsx'
import { FormDialog } from '../../parts/FormDialog.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { TEXT } from '../../text.ts'
import { SETTINGS_TEXT as text } from './text.ts'

type Scope = TokenListAnswer['tokens'][number]['scopes'][number]
const SCOPES = ['read', 'enqueue', 'work', 'send', 'admin'] as const satisfies readonly Scope[]
const { creating, created: shown } = text

/** Creates a token, and shows it this once: the page keeps it only while the dialog is open. */
export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read'])
  const [created, setCreated] = useState<CreatedTokenAnswer>()
  const create = async () => {
    try {
      setCreated((await api.send('POST', '/v1/tokens', { name: name.trim(), scopes })) as CreatedTokenAnswer)
      tell(creating.done(name.trim()))
    } catch (error) {
      tell(TEXT.actions.failed((error as Error).message), true)
    }
    live.refresh()
    return false
  }
  if (created !== undefined) return <Created created={created} onClose={onClose} />
  const toggle = (scope: Scope) => setScopes(scopes.includes(scope) ? scopes.filter((other) => other !== scope) : [...scopes, scope])
  return (
    <FormDialog
      title={creating.title}
      action={creating.action}
      isReady={name.trim() !== '' && scopes.length > 0}
      onSubmit={create}
      onClose={onClose}
    >
      <Field label={creating.name} value={name} onChange={setName} hint={creating.nameHint} required />
      <fieldset class="scopes" aria-label={creating.scopes}>
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
            <strong>{scope}</strong>
            <span class="muted">{creating.about[scope]}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
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
