/** Follows the scrolling of the page for a list: which of its rows are drawn. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ROW_PX, type Window, windowOf } from './rows.ts'

export function useWindowed<E extends HTMLElement>(rows: number): { readonly ref: RefObject<E | null>; readonly drawn: Window } {
  const ref = useRef<E>(null)
  const [at, setAt] = useState({ scrolledPx: 0, viewPx: window.innerHeight })
  useEffect(() => {
    const look = () => {
      const top = ref.current?.getBoundingClientRect().top ?? 0
      // Steps of a row: between them nothing is drawn anew.
      setAt((before) => {
        const scrolledPx = Math.floor(-top / ROW_PX) * ROW_PX
        const viewPx = window.innerHeight
        return before.scrolledPx === scrolledPx && before.viewPx === viewPx ? before : { scrolledPx, viewPx }
      })
    }
    look()
    window.addEventListener('scroll', look, { passive: true })
    window.addEventListener('resize', look)
    return () => {
      window.removeEventListener('scroll', look)
      window.removeEventListener('resize', look)
    }
  }, [])
  return { ref, drawn: windowOf(rows, at.scrolledPx, at.viewPx) }
}
