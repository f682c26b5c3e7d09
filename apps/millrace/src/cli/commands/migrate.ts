/** `millrace migrate`: migrates a file up to the schema of this version, as opening it does, or down to an older one. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { Argument, type Command } from 'commander'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { FailedError, NoFileError, UsageError } from '../errors.ts'
import { fileOf } from '../target.ts'
import { number } from '../values.ts'

interface MigrateFlags {
  readonly check?: boolean
  readonly to?: number
}

export function addMigrate(program: Command, context: Context): void {
  program
    .command('migrate')
    .description('Migrate a file that nobody has open up to the schema of this version, or down to an older one')
    .addArgument(new Argument('[direction]', 'up, to the schema of this version (default), or down').choices(['up', 'down']))
    .option('--check', 'only check: exit code 1 if a migration is due')
    .option('--to <schema>', 'with down: the schema of the older version, as its own migrate --check prints it', number)
    .action(async (direction: 'up' | 'down' | undefined, { check = false, to }: MigrateFlags) => {
      const { out } = context
      const file = fileOf(context.target(), 'migrate requires --file: a running engine has migrated its file')
      if (!existsSync(file)) throw new NoFileError(file)
      const down = direction === 'down'
      if (down && check) throw new UsageError('--check says whether a migration up is due: leave it out with down')
      if (down !== (to !== undefined))
        throw new UsageError(down ? 'down requires --to, a schema' : '--to goes with down: migrate up has one end')
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
      if (to !== undefined) await migrateDown(file, before, to)
      else if (pending) {
        const { openEngine } = await import('@millrace/engine')
        await openEngine({ file }).then((engine) => engine.stop())
      }
      const { schemaVersion: after } = inspectFile(file)
      await out.answer({ file, before, after }, () => (before === after ? `schema ${after}: nothing to do` : `schema ${before} → ${after}`))
    })
}

async function migrateDown(file: string, before: number, to: number): Promise<void> {
  const { migrateFileDown, OLDEST_DOWN, SCHEMA_VERSION } = await import('@millrace/sqlite')
  if (before > SCHEMA_VERSION)
    throw new UsageError(`${file} has schema ${before}, and this version knows ${SCHEMA_VERSION}: use the newer version`)
  if (!Number.isInteger(to) || to < OLDEST_DOWN || to > before)
    throw new UsageError(`--to must be ${OLDEST_DOWN} to ${before}, the schema of the file, got ${to}`)
  migrateFileDown({ file, now: now(), host: hostname(), pid: process.pid }, to)
}
