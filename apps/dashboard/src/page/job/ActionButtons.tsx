import type { JobAnswer } from '../api/answers.ts'
import { Ask } from '../parts/Ask.tsx'
import { Icon } from '../parts/Icon.tsx'
import { KEYS } from './actions.ts'
import { JOB_TEXT as text } from './text.ts'
import type { JobActions } from './useJobActions.ts'

interface Props {
  readonly job: JobAnswer
  readonly actions: JobActions
  /** Set if the deletion is elsewhere, in a menu. */
  readonly withoutDelete?: true
}

/** The buttons of a job's actions, the first of which is the one that is wanted. */
export function ActionButtons({ job, actions: { actions, run, asked, confirm, close }, withoutDelete }: Props) {
  const shown = withoutDelete ? actions.filter(({ word }) => word !== 'delete') : actions
  return (
    <>
      {shown.map((action, place) => (
        <button key={action.word} type="button" class={styleOf(action.word, place)} onClick={() => run(action)}>
          {action.word === 'retry' && <Icon name="retry" size={13} />}
          {action.label}
          {KEYS[action.word] !== undefined && <kbd class="wide">{KEYS[action.word]}</kbd>}
        </button>
      ))}
      {asked !== undefined && (
        <Ask isDanger {...text.confirm[asked.word](job.name)} onConfirm={confirm} onClose={close}>
          <p>{text.confirmText[asked.word](job.id)}</p>
        </Ask>
      )}
    </>
  )
}

function styleOf(word: string, place: number): string {
  if (word === 'delete') return 'btn ghost danger end'
  return place === 0 && word !== 'cancel' ? 'btn primary' : 'btn'
}
