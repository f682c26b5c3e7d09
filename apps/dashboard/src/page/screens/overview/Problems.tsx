import { act } from '../../actions/act.ts'
import { asked } from '../../actions/asked.ts'
import { cut } from '../../format/cut.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'
import type { Problem, Remedy } from './problems/problem.ts'

const SHOWN = 6
/** A message may be very long; the group of failures has all of it. */
const SHOWN_LENGTH = 300
const TITLE_LENGTH = 80

export function Problems({ problems, well }: { readonly problems: readonly Problem[]; readonly well: string }) {
  if (problems.length === 0) {
    return (
      <section class="card well" aria-label={TEXT.overview.problems}>
        <span class="s-good">
          <Icon name="s-completed" size={16} />
        </span>
        <p>
          <strong>{TEXT.overview.well}</strong> <span class="muted">{well}</span>
        </p>
      </section>
    )
  }
  const more = problems.slice(SHOWN)
  return (
    <section class="card problems" aria-label={TEXT.overview.problems}>
      {problems.slice(0, SHOWN).map((problem) => (
        <Row key={problem.id} problem={problem} />
      ))}
      {more.length > 0 && (
        <details>
          <summary>{TEXT.overview.moreProblems(more.length)}</summary>
          <div class="problems">
            {more.map((problem) => (
              <Row key={problem.id} problem={problem} />
            ))}
          </div>
        </details>
      )}
    </section>
  )
}

function Row({ problem: { severity, icon, title, text, message, tag, show, remedy } }: { readonly problem: Problem }) {
  return (
    <div class="problem">
      <span class={`s-${severity}`}>
        <Icon name={icon} size={16} />
      </span>
      <p title={message && cut(message, SHOWN_LENGTH)}>
        <strong>{cut(title, TITLE_LENGTH)}</strong> <span class="muted">{text}</span>
        {message !== undefined && <span class="mono faint"> · {cut(message, SHOWN_LENGTH)}</span>}
      </p>
      {tag !== undefined && <span class={`tag ${severity} num opt`}>{tag}</span>}
      <span class="do">
        {show !== undefined && (
          <a class="btn" href={router.to(show)}>
            {TEXT.problems.show}
          </a>
        )}
        {remedy !== undefined && sessions.can('admin') && (
          <button type="button" class="btn" onClick={() => apply(remedy)}>
            {'bulk' in remedy.does && <Icon name="retry" size={13} />}
            {remedy.label}
          </button>
        )}
      </span>
    </div>
  )
}

function apply({ does }: Remedy): void {
  if ('bulk' in does) asked.value = does.bulk
  else void act(does.action)
}
