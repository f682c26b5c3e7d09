/** `millrace openapi`: prints the document of the HTTP API, as the daemon serves it. */
import type { Command } from 'commander'
import type { Context } from '../context.ts'

export function addOpenapi(program: Command, { out }: Context): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document of the HTTP API')
    .action(async () => {
      const [{ openEngine }, { loadConfig }, { Control }, { SYSTEM }, { createLogger }, { feedOf, httpOf }] = await Promise.all([
        import('@millrace/engine'),
        import('../../config/load.ts'),
        import('../../control/control.ts'),
        import('../../control/surroundings.ts'),
        import('../../log/logger.ts'),
        import('../../serve/assemble.ts'),
      ])
      await using engine = await openEngine({ file: ':memory:' })
      const { config } = await loadConfig({ cwd: process.cwd(), flags: { 'log.level': 'silent' } })
      const control = new Control(':memory:', SYSTEM)
      const logger = createLogger(config.log, out.stderr)
      const parts = { engine, control, config, logger, authenticate: () => undefined, ready: () => true, stop: () => {}, sockets: () => [] }
      const document = httpOf(parts, feedOf(parts)).document()
      control.close()
      await out.raw(`${JSON.stringify(document, undefined, 2)}\n`)
    })
}
