/** `millrace migrate`: migrates a store up to the schema of this version, as opening it does, or down to an older one; or moves it to another. */
import { Argument, type Command } from 'commander'
import type { Context } from '../context.ts'
import { FailedError, UsageError } from '../errors.ts'
import { type MigratedStore, migratedStore } from '../migrations.ts'
import { type MoveFlags, moveStores } from '../move.ts'
import { number } from '../values.ts'

interface MigrateFlags extends MoveFlags {
  readonly check?: boolean
}

export function addMigrate(program: Command, context: Context): void {
  program
    .command('migrate')
    .description(
      'Migrate a file or a schema of Postgres that no process has open: up to this version, down to an older one, or to another store',
    )
    .addArgument(new Argument('[direction]', 'up, to the schema of this version (default), or down').choices(['up', 'down']))
    .option('--check', 'only check: exit code 1 if a migration is due')
    .option('--from <store>', 'move from this store, a path or a URL of Postgres (default: that of --file or --postgres)')
    .option('--to <store>', 'move to this store; with down: the schema of the older version, as its own migrate --check prints it')
    .option('--drain', 'when moving: make active jobs wait again, and turn entries of the inbox into jobs')
    .action(async (direction: 'up' | 'down' | undefined, { check = false, ...flags }: MigrateFlags, command: Command) => {
      const { out } = context
      if (isMove(direction, check, flags)) return moveStores(context, flags, command.optsWithGlobals())
      const to = flags.to === undefined ? undefined : number(flags.to)
      const store = await migratedStore(context.target())
      const down = direction === 'down'
      if (down && check) throw new UsageError('--check says whether a migration up is due: leave it out with down')
      if (down !== (to !== undefined))
        throw new UsageError(
          down ? 'down requires --to, a schema' : '--to requires down: migrate up always ends at the schema of this version',
        )
      const { schemaVersion: before, knownVersion: known } = store.inspect()
      const at = { [store.field]: store.name }
      const pending = before < known
      if (check) {
        await out.answer({ ...at, version: before, known, pending }, () =>
          pending ? `schema ${before}; millrace migrate brings it to ${known}` : `schema ${before}: nothing to do`,
        )
        if (pending) throw new FailedError(`${store.name} needs a migration: run millrace migrate`)
        return
      }
      if (to !== undefined) migrateDown(store, before, known, to)
      else if (pending) await store.up()
      const { schemaVersion: after } = store.inspect()
      await out.answer({ ...at, before, after }, () =>
        before === after ? `schema ${after}: nothing to do` : `schema ${before} → ${after}`,
      )
    })
}

function isMove(direction: string | undefined, check: boolean, { from, to, drain }: MoveFlags): boolean {
  const isNumber = to !== undefined && /^\d+$/.test(to)
  const moves = from !== undefined || (direction !== 'down' && to !== undefined && !isNumber)
  if (moves && (direction !== undefined || check))
    throw new UsageError('--from and --to move a store: leave out up, down and --check, which are for one store')
  if (drain && !moves) throw new UsageError('--drain requires --from or --to, which name the other store of a move')
  return moves
}

function migrateDown(store: MigratedStore, before: number, known: number, to: number): void {
  const { name, oldest } = store
  if (before > known) throw new UsageError(`${name} has schema ${before}, and this version knows ${known}: use the newer version`)
  if (!Number.isInteger(to) || to < oldest || to > before)
    throw new UsageError(`--to must be between ${oldest} and ${before}, the schema of ${name}, got ${to}`)
  store.down(to)
}
