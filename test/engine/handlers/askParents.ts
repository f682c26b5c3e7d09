/** Answers what its job has waited for. */
import type { Context } from '@millrace/engine'

export async function handler({ parents }: Context): Promise<Record<string, unknown>> {
  const outputs: Record<string, unknown> = {}
  for await (const { ref, output } of parents()) outputs[ref] = output
  return outputs
}
