/** Of places that are tried one after the other: each in `pnpm proof`, every fourth where a change is tested. */
export const STRIDE = process.env['PROOF'] === undefined ? 4 : 1

/** How often a property or a world is tried: so often in `pnpm proof`, a quarter of it where a change is tested. */
export function runs(count: number): number {
  return Math.ceil(count / STRIDE)
}
