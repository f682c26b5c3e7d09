import { useState } from 'preact/hooks'
import type { JobAnswer } from '../../api/answers.ts'
import { cut } from '../../format/cut.ts'
import { clockTimeMs } from '../../format/times.ts'
import { settings } from '../../page.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { runs: text } = JOB_PAGE_TEXT
type Line = JobAnswer['attempts'][number]['logs'][number]
const PORTION = 100
const MESSAGE_LENGTH = 2_000

/** The lines that a run has logged, the last ones first in sight. */
export function Logs({ lines }: { readonly lines: readonly Line[] }) {
  const [shown, setShown] = useState(PORTION)
  if (lines.length === 0) return <p class="faint small">{text.noLog}</p>
  const left = lines.length - shown
  return (
    <section class="logs" aria-label={text.log}>
      {left > 0 && (
        <button type="button" class="link" onClick={() => setShown(shown + PORTION)}>
          {text.moreLines(left)}
        </button>
      )}
      {lines.slice(-shown).map((line, place) => (
        <div key={place}>
          <time class="t">{clockTimeMs(Date.parse(line.at), settings.zone.value)}</time>
          <span class={line.level}>{line.level}</span>
          <span>
            <bdi>{cut(line.message, MESSAGE_LENGTH)}</bdi>{' '}
            {line.fields !== undefined && <span class="f">{cut(fieldsOf(line.fields), MESSAGE_LENGTH)}</span>}
          </span>
        </div>
      ))}
    </section>
  )
}

function fieldsOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
}
