/** `millrace migrate --from` and `--to`: moves a store to another one, of which the command's own target is one end. */
import { existsSync } from 'node:fs'
import type { StoreAddress } from '@millrace/core'
import type { Context } from './context.ts'
import { NoFileError, UsageError } from './errors.ts'
import { countText } from './output/amounts.ts'
import { type Target, type TargetOptions, targetName, targetOf } from './target.ts'

export interface MoveFlags {
  readonly from?: string
  readonly to?: string
  readonly drain?: boolean
}

/** Any of these names the store that a flag of the move leaves out. The default file does not: a move closes its source. */
const NAMES = ['MILLRACE_URL', 'MILLRACE_POSTGRES', 'MILLRACE_FILE'] as const

/** Moves the store, and shows how far it is. @param given the flags that all commands have */
export async function moveStores({ env, out, signal, target }: Context, flags: MoveFlags, given: TargetOptions): Promise<void> {
  const { from, to, drain = false } = flags
  const { file, url, postgres, schema } = given
  const isNamed = [file, url, postgres, ...NAMES.map((name) => env[name] || undefined)].some((name) => name !== undefined)
  if ((from === undefined || to === undefined) && !isNamed)
    throw new UsageError('a move requires both stores: give --from and --to, or one of them beside --file, --postgres or MILLRACE_POSTGRES')
  const [source, goal] = [from, to].map((end) => (end === undefined ? target() : endOf(end, schema, env))) as [Target, Target]
  if (source.kind === 'file' && !existsSync(source.file)) throw new NoFileError(source.file)
  const { moveStore } = await import('@millrace/engine')
  const progress = out.progress()
  try {
    const { tables } = await moveStore({
      ...{ from: addressOf(source), to: addressOf(goal), drain, signal },
      onProgress: ({ phase, table, rows }) => {
        if (phase === 'drain') progress.show(() => `waiting until no job is active: ${countText(rows)} left`)
        else progress.show(() => `${phase === 'copy' ? 'copying' : 'comparing'} ${table}: ${countText(rows)} rows`)
      },
    })
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    progress.end()
    await out.answer(
      { from: targetName(source), to: targetName(goal), rows, tables },
      () =>
        `${countText(rows)} rows of ${tables.length} tables moved from ${targetName(source)} to ${targetName(goal)}, and compared. No engine opens ${targetName(source)} any more: delete it when you have a backup of the other`,
    )
  } finally {
    progress.end()
  }
}

/** Returns a store that is named by a path, or by a URL of Postgres. */
function endOf(store: string, schema: string | undefined, env: NodeJS.ProcessEnv): Target {
  if (!/^postgres(?:ql)?:\/\//.test(store)) return targetOf({ file: store }, env)
  return targetOf({ postgres: store, ...(schema !== undefined && { schema }) }, env)
}

function addressOf(target: Target): StoreAddress {
  if (target.kind === 'url') throw new UsageError('a running engine cannot be moved: stop it, and name its file or its schema')
  return target.kind === 'file' ? { file: target.file } : { postgres: target.postgres, schema: target.schema }
}
