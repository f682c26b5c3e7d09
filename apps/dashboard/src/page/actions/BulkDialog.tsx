/** Asks before many jobs change: says how many and which, then shows how far it is. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { sum } from '../chart/paths.ts'
import { count } from '../format/numbers.ts'
import { clockTime } from '../format/times.ts'
import { api, live, now, settings } from '../page.ts'
import { Modal } from '../parts/Modal.tsx'
import { TEXT } from '../text.ts'
import { asked } from './asked.ts'
import { type Bulk, boundedAt, COUNTED_MOST, countOf, type Progress, runBulk } from './bulk.ts'

const { bulk: text } = TEXT

export function BulkDialog() {
  const bulk = asked.value
  return bulk === undefined ? null : <Asking bulk={bulk} />
}

function Asking({ bulk }: { readonly bulk: Bulk }) {
  const [at] = useState(() => bulk.at ?? now.peek())
  const bounded = boundedAt(bulk, at)
  const matched = useCount(bounded)
  const { progress, error, isRunning, start, stop } = useRun(bounded, mostOf(matched?.value))
  const close = () => {
    stop()
    asked.value = undefined
  }
  const number = matched === undefined ? '' : matched.value >= COUNTED_MOST ? text.orMore(count(COUNTED_MOST)) : count(matched.value)
  return (
    <Modal title={text.title[bulk.word]} onClose={close}>
      <div class="content-text">
        {matched?.error === undefined && <p>{matched === undefined ? text.counting : said(matched.value, number, bulk, at)}</p>}
        {bulk.word === 'delete' && <p class="muted">{text.deletes}</p>}
        {progress !== undefined && <Shown bulk={bulk} progress={progress} total={matched?.value ?? 0} />}
        {(error ?? matched?.error) !== undefined && (
          <p class="s-bad" role="alert">
            {TEXT.actions.failed((error ?? matched?.error) as string)}
          </p>
        )}
      </div>
      <footer>
        {isRunning ? (
          <button type="button" class="btn" onClick={stop}>
            {text.stop}
          </button>
        ) : (
          <button type="button" class="btn" onClick={close}>
            {progress?.isOver ? text.done : TEXT.actions.cancel}
          </button>
        )}
        {progress === undefined && matched?.error === undefined && (
          <button
            type="button"
            class={bulk.word === 'retry' ? 'btn primary' : 'btn danger'}
            disabled={matched === undefined || matched.value === 0}
            onClick={start}
          >
            {text.act[bulk.word](number)}
          </button>
        )}
      </footer>
    </Modal>
  )
}

function said(matched: number, number: string, { what }: Bulk, at: number): string {
  return matched === 0 ? text.none(what) : text.matches(number, what, clockTime(at, settings.zone.value))
}

function Shown({ bulk, progress, total }: { readonly bulk: Bulk; readonly progress: Progress; readonly total: number }) {
  const skipped = Object.entries(progress.skipped)
  const reasons = skipped.map(([reason, number]) => `${reason} ${count(number ?? 0)}`).join(', ')
  return (
    <>
      <progress max={total} value={progress.isOver ? total : progress.changed} />
      <p class="num" role="status">
        {text.progress[bulk.word](count(progress.changed))}
      </p>
      {reasons !== '' && <p class="muted">{text.skipped(count(sum(skipped.map(([, number]) => number ?? 0))), reasons)}</p>}
    </>
  )
}

interface Counted {
  readonly value: number
  readonly error?: string
}

function useCount(bulk: Bulk): Counted | undefined {
  const [counted, setCounted] = useState<Counted>()
  useEffect(() => {
    countOf(api, bulk).then(
      (value) => setCounted({ value }),
      (error: Error) => setCounted({ value: 0, error: error.message }),
    )
  }, [])
  return counted
}

/** Returns the bound of a run: none if the jobs were not counted to their end. */
function mostOf(matched: number | undefined): number {
  return matched === undefined || matched >= COUNTED_MOST ? Number.POSITIVE_INFINITY : matched
}

function useRun(bulk: Bulk, most: number) {
  const [progress, setProgress] = useState<Progress>()
  const [error, setError] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const stopped = useRef(false)
  const run = async () => {
    setRunning(true)
    try {
      for await (const each of runBulk(api, bulk, most, () => stopped.current)) setProgress(each)
    } catch (thrown) {
      setError((thrown as Error).message)
    } finally {
      setRunning(false)
      live.refresh()
    }
  }
  const stop = () => {
    stopped.current = true
  }
  return { progress, error, isRunning, start: () => void run(), stop }
}
