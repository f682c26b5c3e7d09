/** `millrace migrate`: brings a file to the schema of this version, as opening it does. */
import { existsSync } from 'node:fs'
import { Argument, type Command } from 'commander'
import type { Context } from '../context.ts'
import { FailedError, NoFileError, UsageError } from '../errors.ts'

export function addMigrate(program: Command, context: Context): void {
  program
    .command('migrate')
    .description('Bring a file that nobody has open to the schema of this version')
    .addArgument(new Argument('[up]', 'the only direction; you can leave it out').choices(['up']))
    .option('--check', 'only check: exit code 1 if a migration is due')
    .action(async (_up: string | undefined, { check = false }: { readonly check?: boolean }) => {
      const { out } = context
      const target = context.target()
      if (target.kind === 'url') throw new UsageError('migrate requires --file: a running engine has migrated its file')
      const { file } = target
      if (!existsSync(file)) throw new NoFileError(file)
      const { inspectFile } = await import('@millrace/sqlite')
      const { schemaVersion: before, knownVersion: known } = inspectFile(file)
      const pending = before < known
      if (check) {
        await out.answer({ file, version: before, known, pending }, () =>
          pending ? `schema ${before}; this millrace brings it to ${known}` : `schema ${before}: nothing to do`,
        )
        if (pending) throw new FailedError(`${file} needs a migration: run millrace migrate`)
        return
      }
      if (pending) {
        const { openEngine } = await import('@millrace/engine')
        await openEngine({ file }).then((engine) => engine.stop())
      }
      const { schemaVersion: after } = inspectFile(file)
      await out.answer({ file, before, after }, () => (before === after ? `schema ${after}: nothing to do` : `schema ${before} → ${after}`))
    })
}
