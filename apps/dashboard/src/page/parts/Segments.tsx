interface Props<T extends string> {
  readonly label: string
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A choice of one of a few, all of them in sight. */
export function Segments<T extends string>({ label, options, value, onChange }: Props<T>) {
  return (
    <fieldset class="seg" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}
