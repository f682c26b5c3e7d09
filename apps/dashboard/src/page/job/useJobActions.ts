/** The actions of a job as a view needs them: those that the session allows, their keys, and the question before some of them. */
import { useState } from 'preact/hooks'
import { act } from '../actions/act.ts'
import { tell } from '../actions/toast.ts'
import type { JobAnswer } from '../api/answers.ts'
import { useKeys } from '../hooks.ts'
import { live, sessions } from '../page.ts'
import { ASKS, actionsOf, type JobAction, KEYS } from './actions.ts'
import { jobAddress } from './jobAddress.ts'
import { JOB_TEXT as text } from './text.ts'

export interface JobActions {
  readonly actions: readonly JobAction[]
  readonly run: (action: JobAction) => void
  /** The action that the user is asked about. */
  readonly asked: JobAction | undefined
  /** Does what was asked. Resolves with true if it has happened. */
  readonly confirm: () => Promise<boolean>
  readonly close: () => void
}

/** @param onDeleted called once the job is gone */
export function useJobActions(job: JobAnswer | undefined, onDeleted: () => void): JobActions {
  const [asked, setAsked] = useState<JobAction>()
  const actions = job === undefined || !sessions.can('admin') ? [] : actionsOf(job)
  const run = (action: JobAction, isKey = false) => {
    const asks = ASKS[action.word]
    if (asks === 'always' || (asks === 'by key' && isKey)) setAsked(action)
    else void act(action.action)
  }
  const onDone = () => {
    // Else the look after the change would find nothing.
    if (job !== undefined) live.poll(...jobAddress(job.id)).end()
    onDeleted()
  }
  const confirm = async () => asked !== undefined && act({ ...asked.action, ...(asked.word === 'delete' && { onDone }) })
  const close = () => setAsked(undefined)
  useKeys([
    ...actions.flatMap((action) => {
      const keys = KEYS[action.word]
      return keys === undefined ? [] : [{ keys, label: action.label, group: text.actions.group, run: () => run(action, true) }]
    }),
    ...(job === undefined ? [] : [{ keys: 'y', label: text.actions.copyId, group: text.actions.group, run: () => void copyId(job.id) }]),
  ])
  return { actions, run, asked, confirm, close }
}

async function copyId(id: string): Promise<void> {
  await navigator.clipboard.writeText(id)
  tell(text.actions.copied(id))
}
