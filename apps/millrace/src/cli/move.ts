/** `millrace migrate --from` and `--to`: moves a store to another one, of which the command's own target is one end. */
import { existsSync } from 'node:fs'
import type { StoreAddress } from '@millrace/core'
import type { Context } from './context.ts'
import { NoFileError, UsageError } from './errors.ts'
import { countText } from './output/amounts.ts'
import { type Target, targetName, targetOf } from './target.ts'

export interface MoveFlags {
  readonly from?: string
  readonly to?: string
  readonly drain?: boolean
}

/** Moves the store, and shows how far it is. */
export async function moveStores({ env, out, signal, target }: Context, { from, to, drain = false }: MoveFlags): Promise<void> {
  const [source, goal] = [endOf(from, env) ?? target(), endOf(to, env) ?? target()]
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
        `${countText(rows)} rows of ${tables.length} tables moved from ${targetName(source)} to ${targetName(goal)}, and compared. No engine opens ${targetName(source)} any more: keep it until you have a backup of the other`,
    )
  } finally {
    progress.end()
  }
}

/** Returns a store that is named by a path, or by a URL of Postgres. */
function endOf(store: string | undefined, env: NodeJS.ProcessEnv): Target | undefined {
  if (store === undefined) return undefined
  return /^postgres(?:ql)?:\/\//.test(store) ? targetOf({ postgres: store }, env) : targetOf({ file: store }, env)
}

function addressOf(target: Target): StoreAddress {
  if (target.kind === 'url') throw new UsageError('a running engine cannot be moved: stop it, and name its file or its schema')
  return target.kind === 'file' ? { file: target.file } : { postgres: target.postgres, schema: target.schema }
}
