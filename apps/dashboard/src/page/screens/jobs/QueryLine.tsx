/** The filter as chips, and a field behind them in which the next one is typed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../parts/Icon.tsx'
import { FIELDS, parseQuery, type Query, withTerm, writeText } from './query.ts'
import { type KnownValues, lastWordOf, type Suggestion, suggestionsOf, withLastWord } from './suggest.ts'
import { JOBS_TEXT as text } from './text.ts'

interface Props {
  readonly query: Query
  readonly known: KnownValues
  /** How many jobs match, in words. */
  readonly found: string
  /** A sentence about a term that is wrong. */
  readonly fault: string | undefined
  readonly onChange: (query: Query) => void
}

export function QueryLine({ query, known, found, fault, onChange }: Props) {
  const [typed, setTyped] = useState(writeText(query.text, query.faults))
  const [chosen, setChosen] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setTyped(writeText(query.text, query.faults)), [query.text])
  const offered = isOpen ? suggestionsOf(lastWordOf(typed), known) : []
  const given = FIELDS.filter((name) => query.terms[name] !== undefined)

  /** Takes what is typed: terms become chips, all else is searched for. */
  const apply = (line: string) => {
    const { terms, ...others } = parseQuery(line)
    setOpen(false)
    setTyped(writeText(others.text, others.faults))
    onChange({ terms: { ...query.terms, ...terms }, ...others })
  }
  const take = ({ word, isWhole }: Suggestion) => {
    const line = withLastWord(typed, word)
    setChosen(0)
    field.current?.focus()
    if (isWhole) apply(line)
    else setTyped(line)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const suggestion = offered[chosen]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.isComposing) return
    if (step !== undefined && offered.length > 0) setChosen((chosen + step + offered.length) % offered.length)
    else if (event.key === 'Tab' && !event.shiftKey && suggestion !== undefined) take(suggestion)
    else if (event.key === 'Enter') apply(typed)
    else if (event.key === 'Backspace' && typed === '' && given.length > 0) onChange(withTerm(query, given.at(-1) as never, undefined))
    else if (event.key === 'Escape') {
      if (offered.length > 0) setOpen(false)
      else field.current?.blur()
      event.stopPropagation()
    } else return
    event.preventDefault()
  }
  const onInput = ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement }) => {
    const last = lastWordOf(value.trimEnd())
    const { terms } = parseQuery(last)
    setChosen(0)
    setOpen(true)
    // A space behind a term ends it.
    if (/\s$/.test(value) && Object.keys(terms).length > 0 && lastWordOf(value) === '') {
      setTyped(withLastWord(value.trimEnd(), ''))
      onChange({ ...query, terms: { ...query.terms, ...terms } })
    } else setTyped(value)
  }
  return (
    <search class="query">
      <Icon name="search" />
      {given.map((name) => (
        <span key={name} class="chip">
          <b>{name}:</b>
          <bdi>{query.terms[name]}</bdi>
          <button
            type="button"
            aria-label={text.remove(name, query.terms[name] as string)}
            onClick={() => onChange(withTerm(query, name, undefined))}
          >
            <Icon name="x" size={10} />
          </button>
        </span>
      ))}
      <div class="typed">
        <input
          ref={field}
          role="combobox"
          aria-label={text.query}
          aria-expanded={offered.length > 0}
          aria-controls="suggestions"
          aria-activedescendant={offered.length > 0 ? `suggestion-${chosen}` : undefined}
          aria-autocomplete="list"
          placeholder={text.hint(FIELDS.filter((name) => query.terms[name] === undefined))}
          value={typed}
          autocomplete="off"
          spellcheck={false}
          data-query
          onInput={onInput}
          onKeyDown={onKeyDown}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
        />
        <div id="suggestions" role="listbox" aria-label={text.suggestions} class={offered.length > 0 ? 'suggestions' : 'visually-hidden'}>
          {offered.map((suggestion, place) => (
            <button
              key={suggestion.word}
              id={`suggestion-${place}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={place === chosen}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion)}
            >
              {suggestion.word}
            </button>
          ))}
        </div>
      </div>
      {fault === undefined ? (
        <span class="hint num">{found}</span>
      ) : (
        <span class="hint s-bad" role="alert">
          {fault}
        </span>
      )}
      {(given.length > 0 || query.text !== '') && (
        <button
          type="button"
          class="btn ghost"
          aria-label={text.clear}
          onClick={() => onChange({ terms: {}, text: '', leading: {}, faults: [] })}
        >
          <Icon name="x" size={12} />
        </button>
      )}
    </search>
  )
}
