/** The step between places that are tried one after the other: each in `pnpm proof`, every fourth when a change is tested. */
export const STRIDE = process.env['PROOF'] === undefined ? 4 : 1

/** Returns how often a property or a world is tried: `count` times in `pnpm proof`, a quarter of that when a change is tested. */
export function runs(count: number): number {
  return Math.ceil(count / STRIDE)
}
