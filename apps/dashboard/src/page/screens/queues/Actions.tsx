import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { pause } from '../../actions/pauses.ts'
import type { QueueAnswer } from '../../api/answers.ts'
import { useKeys } from '../../hooks.ts'
import { router } from '../../page.ts'
import { Ask } from '../../parts/Ask.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'
import { Purge } from './Purge.tsx'
import { text } from './text.ts'

/** All that can be done to the queue as a whole. What takes something away asks, and so does a key, which may be hit by accident. */
export function Actions({ queue }: { readonly queue: QueueAnswer }) {
  const { name, paused, settings } = queue
  const [asked, setAsked] = useState<'pause' | 'drain' | 'purge' | 'forget'>()
  const close = () => setAsked(undefined)
  const isStopped = paused || settings.draining === true
  const word = isStopped ? 'resume' : 'pause'
  const toggle = () => act(pause(word, name))
  useKeys([{ keys: 'p', label: `${text.pause} / ${text.resume}`, group: TEXT.keys.page, run: () => setAsked('pause') }])
  const path = `/v1/queues/${encodeURIComponent(name)}`
  const drained = () => act({ path: `${path}/drain`, done: text.draining.done(name) })
  const forgotten = async () => {
    const isDone = await act({ method: 'DELETE', path, done: text.forgetting.done(name) })
    if (isDone) router.go('/queues')
    return isDone
  }
  return (
    <div class="toolbar">
      <button type="button" class="btn primary" onClick={() => void toggle()}>
        <Icon name={isStopped ? 'play' : 'pause'} size={12} />
        {text[word]}
        <kbd>p</kbd>
      </button>
      {!settings.draining && (
        <button type="button" class="btn" onClick={() => setAsked('drain')}>
          {text.drain}
        </button>
      )}
      <button type="button" class="btn ghost danger end" onClick={() => setAsked('purge')}>
        {text.purge}
      </button>
      <button type="button" class="btn ghost danger" onClick={() => setAsked('forget')}>
        {text.forget}
      </button>
      {asked === 'pause' && (
        <Ask title={text.toggling.title[word](name)} action={text.toggling.confirm[word]} onConfirm={toggle} onClose={close}>
          <p>{text.toggling.text[word](queue.states.waiting)}</p>
        </Ask>
      )}
      {asked === 'drain' && (
        <Ask title={text.draining.title(name)} action={text.draining.confirm} onConfirm={drained} onClose={close}>
          <p>{text.draining.text}</p>
        </Ask>
      )}
      {asked === 'purge' && <Purge queue={name} onClose={close} />}
      {asked === 'forget' && (
        <Ask isDanger title={text.forgetting.title(name)} action={text.forgetting.confirm} onConfirm={forgotten} onClose={close}>
          <p>{text.forgetting.text}</p>
        </Ask>
      )}
    </div>
  )
}
