/** Loads @millrace/postgres, which only those install who use it. */
import { UnsupportedRuntimeError } from '@millrace/core'
import type * as Module from '@millrace/postgres'

export type Postgres = typeof Module

/** @throws UnsupportedRuntimeError if the package is not installed */
export async function loadPostgres(): Promise<Postgres> {
  try {
    return await opaque('@millrace/postgres')
  } catch (cause) {
    if (!NOT_FOUND.has((cause as NodeJS.ErrnoException).code)) throw cause
    throw new UnsupportedRuntimeError(
      'openEngine({ postgres }) needs the package @millrace/postgres: install it beside @millrace/engine',
      {},
      { cause },
    )
  }
}

/** Imports a package by a name that no bundler sees: it would fail to find a package that is not installed. */
const opaque = (name: string): Promise<Postgres> => import(/* webpackIgnore: true */ /* @vite-ignore */ name)

/** A bundle of CommonJS calls `require`. */
const NOT_FOUND: ReadonlySet<string | undefined> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])
