import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { StatsAnswer } from '../../api/answers.ts'
import { GROUPS } from '../../live/eventTypes.ts'
import { Icon } from '../../parts/Icon.tsx'
import type { Filter } from './filter.ts'
import { EVENTS_TEXT as text } from './text.ts'

interface Props {
  readonly filter: Filter
  readonly stats: StatsAnswer | undefined
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void
  readonly children: ComponentChildren
}

/** A field for each part of the filter. The names that are known are offered while one is typed. */
export function FilterLine({ filter, stats, onChange, children }: Props) {
  const queues = Object.keys(stats?.queues ?? {})
  const names = [...new Set(stats?.names.map(({ name }) => name))]
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <search class="filters" aria-label={text.filter}>
      <select
        aria-label={text.type}
        value={filter.types ?? ''}
        onChange={({ currentTarget }) => onChange({ type: currentTarget.value || undefined })}
      >
        <option value="">{text.every}</option>
        {(Object.keys(GROUPS) as (keyof typeof GROUPS)[]).map((group) => (
          <optgroup key={group} label={text.groups[group]}>
            {GROUPS[group].map((type) => (
              <option key={type}>{type}</option>
            ))}
          </optgroup>
        ))}
      </select>
      <Field label={text.queue} value={filter.queue} known={queues} onChange={(queue) => onChange({ queue })} />
      <Field label={text.name} value={filter.name} known={names} onChange={(name) => onChange({ name })} />
      <Field label={text.job} value={filter.jobId} known={[]} onChange={(job) => onChange({ job })} />
      {isFiltered && (
        <button
          type="button"
          class="btn ghost"
          aria-label={text.clear}
          onClick={() => onChange({ type: undefined, queue: undefined, name: undefined, job: undefined })}
        >
          <Icon name="x" size={13} />
        </button>
      )}
      {children}
    </search>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string | undefined
  readonly known: readonly string[]
  readonly onChange: (value: string | undefined) => void
}

/** Takes its value when it is left, or at Enter: each value is another stream. Until then the typed text stays, whatever the page shows anew. */
function Field({ label, value = '', known, onChange }: FieldProps) {
  const [typed, setTyped] = useState<string>()
  const id = `known-${label.replace(' ', '-')}`
  return (
    <>
      <input
        type="text"
        aria-label={label}
        placeholder={label}
        list={id}
        value={typed ?? value}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => {
          setTyped(undefined)
          onChange(currentTarget.value.trim() || undefined)
        }}
        // After a text that was typed and taken back, no change is told.
        onBlur={() => setTyped(undefined)}
      />
      <datalist id={id}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
