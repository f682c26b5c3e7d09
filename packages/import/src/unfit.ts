/** Entries that cannot be imported: what they are, whatever the other queue, or whoever writes its store, has put there. */
import { isErrorOf } from '@millrace/core'
import { UnfitError } from './errors.ts'
import type { Outcome } from './source.ts'

/** Returns the outcome of an entry whose translation failed. @throws the error, if it is not about the entry */
export function unfitOf(error: unknown): Outcome {
  if (isErrorOf(error, 'MillraceError') && error.code === UnfitError.code) return { as: 'unfit', error }
  if (!(isErrorOf(error, 'TypeError') || isErrorOf(error, 'RangeError') || isErrorOf(error, 'SyntaxError'))) throw error
  return { as: 'unfit', error: new UnfitError(`it is not as its queue writes entries: ${error.message}`, { cause: error }) }
}

/** Returns the outcome of an entry; unfit if it cannot be translated. */
export function unlessUnfit(translate: () => Outcome): Outcome {
  try {
    return translate()
  } catch (error) {
    return unfitOf(error)
  }
}
