/** How often a property or a world is tried: so often in `pnpm proof`, a quarter of it where a change is tested. */
export function runs(count: number): number {
  return process.env['MILLRACE_PROOF'] === undefined ? Math.ceil(count / 4) : count
}
