/** Statements as the store has them. */

export type Scalar = string | number | Uint8Array | null

/** A parameter: one value, or an array. */
export type Value = Scalar | readonly Value[]

export interface Statement {
  readonly text: string
  readonly values: readonly Value[]
}
