import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** The unit of the value, or who has set it: to the right of the field. */
  readonly note?: string | undefined
  /** Shown in the field while it is empty: the default. */
  readonly placeholder?: string | undefined
  /** Below the field: what the value means. */
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  /** A choice of one of these in place of text. */
  readonly options?: readonly (readonly [value: string, text: string])[] | undefined
  /** Values to pick from while typing. */
  readonly suggestions?: readonly string[] | undefined
  /** The kind of input that the browser shows. Default: text. */
  readonly type?: 'text' | 'datetime-local' | undefined
  /** Set for text of many lines. */
  readonly rows?: number | undefined
  /** Set if it has the focus when its dialog opens. */
  readonly isFirst?: boolean
  readonly required?: boolean
}

/** A field of a form with its label, what it means, and what is wrong with its value. */
export function Field({ label, note, hint, error, ...rest }: FieldProps) {
  const id = useId()
  const below = error ?? hint
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {note !== undefined && <span class="who faint">{note}</span>}
      <Control {...rest} id={id} isBad={error !== undefined} hasNote={below !== undefined} />
      {below !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'hint s-bad'}>
          {below}
        </p>
      )}
    </div>
  )
}

interface ControlProps
  extends Pick<FieldProps, 'value' | 'onChange' | 'placeholder' | 'options' | 'suggestions' | 'type' | 'rows' | 'isFirst' | 'required'> {
  readonly id: string
  readonly isBad: boolean
  readonly hasNote: boolean
}

function Control({
  id,
  value,
  onChange,
  placeholder,
  options,
  suggestions,
  type,
  rows,
  isFirst = false,
  required = false,
  isBad,
  hasNote,
}: ControlProps) {
  const common = {
    id,
    value,
    required,
    class: 'input',
    autofocus: isFirst,
    'aria-invalid': isBad,
    'aria-describedby': hasNote ? `${id}-note` : undefined,
  }
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onChange(currentTarget.value)
  if (options !== undefined)
    return (
      <select {...common} onChange={onInput}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )
  if (rows !== undefined)
    return (
      <textarea
        {...common}
        rows={rows}
        placeholder={placeholder}
        spellcheck={false}
        onInput={onInput}
        // Enter alone is a new line.
        onKeyDown={(event) => event.key === 'Enter' && (event.metaKey || event.ctrlKey) && event.currentTarget.form?.requestSubmit()}
      />
    )
  return (
    <>
      <input
        {...common}
        type={(type ?? 'text') as 'text'}
        placeholder={placeholder}
        list={suggestions === undefined ? undefined : `${id}-list`}
        autocomplete="off"
        spellcheck={false}
        onInput={onInput}
      />
      {suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  )
}
