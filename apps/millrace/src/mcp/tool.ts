/** A tool that a client of the Model Context Protocol can call. */
import type { Engine } from '@millrace/engine'
import type { z } from 'zod'

export interface ToolSettings {
  /** True if answers may contain data, outputs and checkpoints of jobs. */
  readonly payloads: boolean
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  /** True if the tool changes jobs: it exists only if changes are allowed. */
  readonly changes: boolean
  call(engine: Engine, input: z.output<Input>, settings: ToolSettings): Promise<object>
}

/** Gives a tool the types of its input. */
export function tool<Input extends z.ZodObject>(definition: Omit<Tool<Input>, 'changes'> & { readonly changes?: true }): Tool {
  return { changes: false, ...definition } as unknown as Tool
}
