/**
 * A view of JSON. Values that are closed are not drawn, long lists are drawn in portions, and long strings are cut until somebody asks
 * for them: a payload of others must not stop the page. Each container is a <details>, which keys open and close.
 */
import { useMemo, useState } from 'preact/hooks'
import { cut } from '../../format/cut.ts'
import { escaped } from '../../format/escaped.ts'
import { isContainer, linesOf, REDACTED } from './lines.ts'
import { type Container, type Entry, type JsonNode, type Leaf, parseJson } from './parse.ts'
import { JSON_TEXT as text } from './text.ts'

/** Up to so many lines, all of it is open at first. */
const OPEN_LINES = 60
const PORTION = 100
const STRING_LENGTH = 400

interface Props {
  readonly source: string
  /** True if the server hides values of it. */
  readonly isRedacted: boolean
}

export function Json({ source, isRedacted }: Props) {
  const [node, isShort] = useMemo(() => {
    const parsed = parseJson(source)
    return [parsed, parsed !== undefined && linesOf(parsed, OPEN_LINES) <= OPEN_LINES] as const
  }, [source])
  if (node === undefined) {
    return (
      <>
        <p class="note">{text.raw}</p>
        <div class="json">
          <LongText value={escaped(source)} />
        </div>
      </>
    )
  }
  return (
    <div class="json">
      <Value entry={{ key: undefined, node }} isLast opens={isShort ? 'all' : 'root'} isRedacted={isRedacted} />
    </div>
  )
}

interface ValueProps {
  readonly entry: Entry
  readonly isLast: boolean
  /** The containers that are open at first. */
  readonly opens: 'all' | 'root' | 'none'
  readonly isRedacted: boolean
}

function Value({ entry: { key, node }, isLast, opens, isRedacted }: ValueProps) {
  if (isContainer(node) && node.entries.length > 0)
    return <Branch name={key} node={node} isLast={isLast} opens={opens} isRedacted={isRedacted} />
  return (
    <div class="value">
      <Name name={key} />
      <Plain node={node} isRedacted={isRedacted} />
      {!isLast && <span class="p">,</span>}
    </div>
  )
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null
  return (
    <>
      <span class="k">
        <bdi>{escaped(cut(name, STRING_LENGTH))}</bdi>
      </span>
      <span class="p">: </span>
    </>
  )
}

interface BranchProps extends Omit<ValueProps, 'entry'> {
  readonly name: string | undefined
  readonly node: Container
}

function Branch({ name, node, isLast, opens, isRedacted }: BranchProps) {
  const [isOpen, setOpen] = useState(opens !== 'none')
  const [shown, setShown] = useState(PORTION)
  const [begin, end] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
  const left = node.entries.length - shown
  const inner = opens === 'all' ? 'all' : 'none'
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="p">{isOpen ? begin : `${begin} ${text.items(node.entries.length)} ${end}${isLast ? '' : ','}`}</span>
      </summary>
      {isOpen && (
        <>
          <div class="inner">
            {node.entries.slice(0, shown).map((entry, place) => (
              <Value
                key={place}
                entry={entry}
                isLast={place === node.entries.length - 1 && !node.isCut}
                opens={inner}
                isRedacted={isRedacted}
              />
            ))}
            {left > 0 && (
              <button type="button" class="link" onClick={() => setShown(shown + PORTION)}>
                {text.more(Math.min(PORTION, left), left)}
              </button>
            )}
            {node.isCut && left <= 0 && <span class="p">{text.cut}</span>}
          </div>
          {!node.isCut && <span class="p">{`${end}${isLast ? '' : ','}`}</span>}
        </>
      )}
    </details>
  )
}

function Plain({ node, isRedacted }: { readonly node: JsonNode; readonly isRedacted: boolean }) {
  if (isContainer(node)) return <span class="p">{node.kind === 'object' ? '{}' : '[]'}</span>
  if (isRedacted && node.kind === 'string' && node.text === REDACTED) return <span class="redacted">{text.hidden}</span>
  return <span class={KINDS[node.kind]}>{node.kind === 'string' ? <Quoted node={node} /> : node.text}</span>
}

const KINDS: Readonly<Record<Leaf['kind'], string>> = { string: 's', number: 'n', word: 'n' }

/** A string as JSON writes it, so that spaces, signs of control and quotation marks are seen. */
function Quoted({ node }: { readonly node: Leaf }) {
  const written = escaped(JSON.stringify(node.text))
  return <LongText value={node.isCut ? `${written.slice(0, -1)}…` : written} />
}

function LongText({ value }: { readonly value: string }) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || value.length <= STRING_LENGTH) return <bdi>{value}</bdi>
  return (
    <>
      <bdi>{cut(value, STRING_LENGTH)}</bdi>{' '}
      <button type="button" class="link" onClick={() => setWhole(true)}>
        {text.wholeString(value.length)}
      </button>
    </>
  )
}
