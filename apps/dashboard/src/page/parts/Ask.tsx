import { useState } from 'preact/hooks'
import { TEXT } from '../text.ts'
import { Field } from './Field.tsx'
import { FormDialog, type FormDialogProps } from './FormDialog.tsx'

interface Props extends Omit<FormDialogProps, 'onSubmit'> {
  /** A name that has to be typed before the button works. */
  readonly typed?: string
  /** Resolves with true if it has happened, which closes the dialog. */
  readonly onConfirm: () => Promise<boolean>
}

/** Asks before something happens: a dialog that says what it is, with one button that does it. */
export function Ask({ typed, isReady = true, onConfirm, children, ...rest }: Props) {
  const [text, setText] = useState('')
  const isMeant = typed === undefined || text === typed
  return (
    <FormDialog {...rest} isReady={isReady && isMeant} onSubmit={onConfirm}>
      {children}
      {typed !== undefined && <Field label={TEXT.actions.typed(typed)} value={text} onChange={setText} />}
    </FormDialog>
  )
}
