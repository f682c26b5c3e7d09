import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { pause } from '../../actions/pauses.ts'
import type { QueueAnswer } from '../../api/answers.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { jobsLink } from '../../router/links.ts'
import { text } from './text.ts'

const { keys } = text

/** The paused keys of the queue, each with its resume, and a field to pause another one. */
export function Keys({ queue: { name: queue, pausedKeys, pausedLeftOut = 0 } }: { readonly queue: QueueAnswer }) {
  const isAdmin = sessions.can('admin')
  if (!isAdmin && pausedKeys.length === 0) return null
  return (
    <section class="card">
      <header>
        <h2>{keys.title}</h2>
        {isAdmin && <PauseKey queue={queue} />}
      </header>
      <div class="content">
        {pausedKeys.length === 0 && <p class="muted">{keys.none}</p>}
        <ul class="chips">
          {pausedKeys.map((key) => (
            <li key={key} class="tag warn">
              <a href={router.to(jobsLink({ queue, key }))}>{key}</a>
              {isAdmin && (
                <button type="button" aria-label={keys.resume(key)} onClick={() => void act(pause('resume', queue, { key }))}>
                  <Icon name="play" size={11} />
                </button>
              )}
            </li>
          ))}
        </ul>
        {pausedLeftOut > 0 && <p class="muted small">{keys.leftOut(pausedLeftOut)}</p>}
      </div>
    </section>
  )
}

function PauseKey({ queue }: { readonly queue: string }) {
  const [key, setKey] = useState('')
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (key !== '' && (await act(pause('pause', queue, { key })))) setKey('')
  }
  return (
    <form class="end" onSubmit={(event) => void onSubmit(event)}>
      <input
        class="input"
        aria-label={keys.label}
        placeholder={keys.placeholder}
        value={key}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setKey(currentTarget.value)}
      />
      <button type="submit" class="btn" disabled={key === ''}>
        {keys.pause}
      </button>
    </form>
  )
}
