/** Hooks of views: answers that stay fresh, keys, and sizes. */
import { effect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answers, Path, Query } from './api/answers.ts'
import { bindings } from './keys/bindings.ts'
import type { Binding } from './keys/keymap.ts'
import type { QueryState } from './live/poll.ts'
import { share } from './live/share.ts'
import { live, settings, statsNames } from './page.ts'

const NOTHING: QueryState<never> = { value: undefined, error: undefined }

/**
 * Asks for as long as the view is there, each `every`th beat; without a path, nothing. The same question of two views is asked once.
 */
export function useAnswer<P extends Path>(path: P | undefined, query: Query = {}, every = 1): QueryState<Answers[P]> {
  const poll = path === undefined ? undefined : live.poll(path, query, every)
  useEffect(() => poll?.use(), [poll])
  return poll?.state.value ?? NOTHING
}

/** The counts, which the frame and most screens share. */
export function useStats(): QueryState<Answers['/v1/stats']> {
  return useAnswer('/v1/stats', { names: statsNames.value, definitions: 'disputed' })
}

/** Beats between two questions for failures, which cost more than counts. */
const FAILURES_EVERY = 5

/** The groups of failures seen last, with their trends. */
export function useFailures(limit?: number): QueryState<Answers['/v1/failures']> {
  return useAnswer('/v1/failures', { limit, trend: 'hour' }, FAILURES_EVERY)
}

/** Returns the value, with those parts of the value before that are equal: views that compare by identity stay as they are. */
export function useShared<T>(value: T): T {
  const last = useRef<T>(value)
  last.current = share(last.current, value)
  return last.current
}

/** Returns a function that stays the same one and calls the newest: rows that get it need not be drawn again. */
export function useStable<Given extends readonly unknown[]>(call: (...given: Given) => void): (...given: Given) => void {
  const current = useRef(call)
  current.current = call
  const [stable] = useState(
    () =>
      (...given: Given) =>
        current.current(...given),
  )
  return stable
}

/** Keys that work while the view is there. */
export function useKeys(given: readonly Binding[]): void {
  const current = useRef(given)
  current.current = given
  useEffect(() => bindings.add(() => current.current), [])
}

/** The width of an element as it is, in whole pixels; 0 before it is known. */
export function useWidth<E extends Element>(): { readonly ref: RefObject<E | null>; readonly width: number } {
  const ref = useRef<E>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    if (ref.current !== null) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

/** The theme, as the style sheet reads it. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = settings.theme.value
  })
}
