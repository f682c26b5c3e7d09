import { useEffect, useRef, useState } from 'preact/hooks'
import { router, sessions } from '../../page.ts'
import { Brand } from '../../parts/Brand.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { cleaned, destination, refusalOf } from './login.ts'

const { login } = TEXT

export function Login({ query }: ScreenProps) {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const enter = async () => {
    setBusy(true)
    try {
      await sessions.logIn(cleaned(token))
      router.load(destination(query['next']))
    } catch (error) {
      setRefusal(refusalOf(error))
      setBusy(false)
      field.current?.focus()
    }
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (cleaned(token) !== '') void enter()
  }
  return (
    <div class="login-page">
      <main class="login card">
        <Brand />
        <h1>{login.title}</h1>
        <p class="muted">{login.intro}</p>
        <form onSubmit={onSubmit}>
          <label for="token">{login.token}</label>
          <div class="field">
            <input
              ref={field}
              id="token"
              {...(isShown ? { type: 'text' as const } : { type: 'password' as const })}
              autocomplete="current-password"
              spellcheck={false}
              value={token}
              aria-invalid={refusal !== undefined}
              aria-describedby={refusal === undefined ? undefined : 'refusal'}
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
            />
            <button
              type="button"
              class="btn ghost"
              aria-label={isShown ? login.hide : login.reveal}
              aria-pressed={isShown}
              onClick={() => setShown(!isShown)}
            >
              <Icon name="eye" size={15} />
            </button>
          </div>
          {refusal !== undefined && (
            <p id="refusal" class="refusal" role="alert">
              {refusal}
            </p>
          )}
          <button type="submit" class="btn primary wide-btn" disabled={isBusy}>
            {login.action}
            <kbd>{login.enter}</kbd>
          </button>
        </form>
        <p class="faint small">
          {login.first}
          <code>millrace.db-token</code>
          {login.others}
          <code>millrace token create anna --scopes read</code>
          {login.hidden}
        </p>
      </main>
    </div>
  )
}
