/** The option of `cancel` and `retry`. */
import { booleanOption } from './choice.ts'
import { checkKnown } from './known.ts'

/** The options of `cancel` and `retry`. */
export interface TreeOptions {
  /** Also all jobs of its flow that wait for this one, however far down; default false. */
  readonly descendants?: boolean
}

const KNOWN = new Set(['descendants'])

/** @throws OptionTypeError */
export function validateTreeOptions(call: string, options: unknown = {}): boolean {
  checkKnown(call, options, KNOWN)
  return booleanOption('descendants', options['descendants'] ?? false)
}
