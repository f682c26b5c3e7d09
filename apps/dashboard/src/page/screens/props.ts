/** The properties of every screen, which the frame sets. */
import type { Params } from '../router/address.ts'

export interface ScreenProps {
  /** The values of the parts of the path in braces. */
  readonly params: Params
  readonly query: Params
}
