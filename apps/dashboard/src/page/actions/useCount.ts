/** Counts the jobs that a bulk call means, for the button that begins it. */
import { useEffect, useState } from 'preact/hooks'
import { count } from '../format/numbers.ts'
import { api, now } from '../page.ts'
import { TEXT } from '../text.ts'
import { type Bulk, boundedAt, COUNTED_MOST, countOf } from './bulk.ts'

/** How many jobs match, in words; undefined until it is known. */
export function useCount(bulk: Bulk | undefined): string | undefined {
  const [counted, setCounted] = useState<string>()
  const key = JSON.stringify(bulk)
  useEffect(() => {
    let isCurrent = true
    setCounted(undefined)
    if (bulk !== undefined)
      countOf(api, boundedAt(bulk, bulk.at ?? now.peek())).then(
        (number) => isCurrent && setCounted(number >= COUNTED_MOST ? TEXT.bulk.orMore(count(COUNTED_MOST)) : count(number)),
        () => {},
      )
    return () => {
      isCurrent = false
    }
  }, [key])
  return counted
}
