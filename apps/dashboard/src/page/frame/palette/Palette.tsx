import { useEffect, useState } from 'preact/hooks'
import type { StatsAnswer } from '../../api/answers.ts'
import { api, router } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { SCREENS } from '../../screens.ts'
import { TEXT } from '../../text.ts'
import { overlay } from '../overlay.ts'
import { commands } from './commands.ts'
import { type Entry, entriesOf } from './entries.ts'

/** Jumps to a job, a screen, a queue or a name, or searches for jobs. */
export function Palette() {
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const stats = useNames()
  const entries = entriesOf(typed, {
    commands: commands(),
    screens: SCREENS.filter(({ navigation }) => navigation !== undefined),
    queues: Object.keys(stats?.queues ?? {}),
    names: stats?.names ?? [],
  })
  const open = ({ to }: Entry) => {
    overlay.value = undefined
    if (typeof to === 'string') router.follow(to)
    else to()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = entries[chosen]
    if (step !== undefined) setChosen((chosen + step + entries.length) % Math.max(entries.length, 1))
    else if (event.key === 'Enter' && !event.isComposing && entry !== undefined) open(entry)
    else return
    event.preventDefault()
  }
  const onInput = (event: { readonly currentTarget: HTMLInputElement }) => {
    setTyped(event.currentTarget.value)
    setChosen(0)
  }
  return (
    <Modal plain title={TEXT.palette.title} onClose={() => (overlay.value = undefined)}>
      <div class="palette">
        <label>
          <Icon name="search" />
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-entries"
            aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
            aria-label={TEXT.palette.title}
            placeholder={TEXT.palette.placeholder}
            value={typed}
            autocomplete="off"
            spellcheck={false}
            onInput={onInput}
            onKeyDown={onKeyDown}
          />
        </label>
        <div id="palette-entries" role="listbox" aria-label={TEXT.palette.title}>
          {entries.map((entry, place) => (
            <button
              key={`${entry.kind} ${entry.label}`}
              id={`palette-${place}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={place === chosen}
              onClick={() => open(entry)}
              onPointerMove={() => setChosen(place)}
            >
              <span>{entry.label}</span>
              <span class="faint">{entry.kind}</span>
            </button>
          ))}
        </div>
      </div>
    </Modal>
  )
}

/** Names are asked for when the palette opens: on most screens nothing else needs them. */
function useNames(): StatsAnswer | undefined {
  const [stats, setStats] = useState<StatsAnswer>()
  useEffect(() => {
    api.get('/v1/stats', { names: 'percentiles' }).then(setStats, () => {})
  }, [])
  return stats
}
