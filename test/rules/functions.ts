/** The functions of the sources, with their lengths. */
import { parseAst } from 'vitest/node'
import type { Source } from './sources.ts'

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface Sized {
  /** Empty for a function without one. */
  readonly name: string
  readonly line: number
  readonly lines: number
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const nameOf = (node: unknown): string => (isNode(node) && typeof node['name'] === 'string' ? node['name'] : '')

/** Every function, also those within others; a method by its key, an expression by what it is assigned to. */
export function functionsOf({ path, text }: Pick<Source, 'path' | 'text'>): Sized[] {
  const lineOf = (place: number) => text.slice(0, place).split('\n').length
  const found: Sized[] = []
  const visit = (value: unknown, within: string): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, within)
    if (!isNode(value)) return
    const name = nameOf(value['id']) || nameOf(value['key']) || within
    if (/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(value.type)) {
      const line = lineOf(value.start)
      found.push({ name, line, lines: lineOf(value.end) - line + 1 })
    }
    for (const child of Object.values(value)) if (typeof child === 'object') visit(child, name)
  }
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), '')
  return found
}
