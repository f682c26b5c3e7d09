/** An error with its stack: code of libraries is quiet, and left out at first where it comes last. */
import { useState } from 'preact/hooks'
import { cut } from '../../format/cut.ts'
import { count } from '../../format/numbers.ts'
import { shortened, stackOf } from './stack.ts'

export interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  readonly code?: string | undefined
  readonly cause?: readonly { readonly name: string; readonly message: string; readonly code?: string | undefined }[] | undefined
}

const MESSAGE_LENGTH = 4_000
const TRACE_TEXT = {
  label: 'Error and stack',
  more: (lines: number) => `${count(lines)} more of libraries`,
  cause: 'caused by ',
} as const

export function Trace({ error }: { readonly error: Thrown }) {
  const [isWhole, setWhole] = useState(false)
  const lines = stackOf(error.stack)
  const { shown, hidden } = isWhole ? { shown: lines, hidden: [] } : shortened(lines)
  return (
    <section class="trace" aria-label={TRACE_TEXT.label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways by the arrow keys */}
      <pre tabIndex={0}>
        <Head {...error} code={isWritten(error, '[code]') ? undefined : error.code} />
        {shown.map(({ text, isOwn, isProperty }, place) => (
          <span key={place} class={`${isOwn ? 'own' : 'lib'} ${isProperty ? 'words' : ''}`}>
            {`\n${text}`}
          </span>
        ))}
        {(isWritten(error, '[cause]') ? [] : (error.cause ?? [])).map((cause, place) => (
          <span key={place}>
            {'\n'}
            <span class="lib">{TRACE_TEXT.cause}</span>
            <Head {...cause} />
          </span>
        ))}
      </pre>
      {hidden.length > 0 && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {TRACE_TEXT.more(hidden.length)}
        </button>
      )}
    </section>
  )
}

/** The engine writes properties of an error below the frames of its stack. */
function isWritten({ stack }: Thrown, property: string): boolean {
  return stack?.includes(`\n${property}: `) === true
}

function Head({ name, message, code }: Thrown) {
  return (
    <span class="words">
      <span class="e">{name}</span>
      {message !== '' && `: ${cut(message, MESSAGE_LENGTH)}`}
      {code !== undefined && <span class="lib">{` (${code})`}</span>}
    </span>
  )
}
