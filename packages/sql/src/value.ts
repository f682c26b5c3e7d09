/** A value that every SQL store returns and accepts. Integers are numbers: ids stay below 2^48. */
export type SqlValue = string | number | Uint8Array | null
