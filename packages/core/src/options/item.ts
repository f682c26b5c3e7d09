/** The items of calls that create many jobs: `{ job, data, options }`. */
import { checkKnown } from './known.ts'

/** The keys of an item. */
export const ITEM_KEYS: ReadonlySet<string> = new Set(['job', 'data', 'options'])

/**
 * Throws OptionTypeError if the item has another key of its own. A key that it inherits belongs to its class. `index` is the item's place
 * in an array. Each job of a bulk call comes here, so the keys are only compared; everything else is done for an error.
 */
export function checkItemKeys(item: object, place: string, index?: number): void {
  for (const key in item) {
    if (key === 'job' || key === 'data' || key === 'options') continue
    checkKnown(itemName(place, index), item, ITEM_KEYS)
    return
  }
}

/** Returns the name of an item for a message: `jobs[3]`. */
export function itemName(place: string, index: number | undefined): string {
  return index === undefined ? place : `${place}[${index}]`
}
