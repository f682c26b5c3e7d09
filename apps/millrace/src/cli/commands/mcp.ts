/** `millrace mcp`: serves an engine to programs that speak the Model Context Protocol. */
import type { Command } from 'commander'
import type { Context } from '../context.ts'

interface McpFlags {
  readonly allowRetry?: boolean
  readonly payloads?: boolean
}

export function addMcp(program: Command, context: Context): void {
  program
    .command('mcp')
    .description('Serve the Model Context Protocol on stdin and stdout, to inspect the engine')
    .option('--allow-retry', 'allow retries of failed jobs; without this it changes nothing')
    .option('--payloads', 'show the beginnings of data, outputs and checkpoints; without this they are left out')
    .action(async ({ allowRetry = false, payloads = false }: McpFlags) => {
      const { out, stdin, signal } = context
      const engine = await context.connect({ looks: true })
      const { serveMcp } = await import('../../mcp/server.ts')
      await serveMcp(engine, { retry: allowRetry, payloads }, { stdin, stdout: out.stdout }, signal)
    })
}
