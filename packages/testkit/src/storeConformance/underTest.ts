/** A store under test, as its own test opens it for the suite. */
import type { TestedStore } from './image.ts'

export interface StoreUnderTest {
  readonly store: TestedStore
  /** Closes the store and opens its data again; omitted if a store's data ends with it. */
  readonly openAgain?: () => TestedStore | Promise<TestedStore>
}
