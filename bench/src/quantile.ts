/** Of a list in any order; 0 of an empty one. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}
