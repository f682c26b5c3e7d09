/** The operations that change something, as the API documents them, and whose token allows which. */
import { createHttp } from '@millrace/http'
import { type Dashboard, SCOPES, TOKENS, type Who } from './test.ts'

export const everyone = Object.keys(SCOPES) as Who[]

interface Documented {
  readonly operationId: string
  /** The scope that a token needs; absent if it needs none. */
  readonly 'x-scope'?: string
}

export interface Change {
  readonly id: string
  readonly method: string
  /** The path, with an id of nothing in place of each parameter. */
  readonly path: string
  readonly fits: RegExp
  readonly scope: string | undefined
}

const NOTHING = '00000000-0000-7000-8000-000000000000'

/** Returns the operations that change something, as the API documents them. */
export function changesOf({ engine }: Dashboard): readonly Change[] {
  const { paths } = createHttp(engine, { token: TOKENS }).document() as unknown as { paths: Record<string, Record<string, Documented>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'get')
      .map(([method, { operationId: id, 'x-scope': scope }]) => ({
        ...{ id, method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, NOTHING), scope },
        fits: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })),
  )
}

export function allows(who: Who, { scope }: Change): boolean {
  return scope === undefined || scope === 'any' || SCOPES[who].some((own) => own === scope)
}
