import { Icon } from '../../parts/Icon.tsx'
import type { Diagnosis, Tone } from './checks.ts'
import { text } from './text.ts'

const ICONS = { good: 's-completed', warn: 'schedules', bad: 'errors', none: 's-waiting' } as const satisfies Record<Tone, string>

/** Why the queue is slow: the verdict first, then each thing that can hold jobs back. */
export function Checks({ diagnosis: { verdict, note, tone, checks } }: { readonly diagnosis: Diagnosis }) {
  return (
    <section class="card" aria-label={text.why.title}>
      <header class="verdict">
        <span class={`s-${tone}`}>
          <Icon name={ICONS[tone]} size={16} />
        </span>
        <h2>{verdict}</h2>
        {note !== '' && <span class="muted small">{note}</span>}
      </header>
      <dl class="checks">
        {checks.map((check) => (
          <div key={check.name}>
            <dt class="muted">{text.why.checks[check.name]}</dt>
            <dd class={check.tone === 'none' ? 'faint' : ''}>
              {(check.tone === 'warn' || check.tone === 'bad') && (
                <span class={`s-${check.tone}`}>
                  <Icon name={ICONS[check.tone]} />
                </span>
              )}
              <span>{check.text}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
