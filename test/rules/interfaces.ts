/** Interfaces of the sources, member by member, with their comments: what the rules and the reference read. */
import { parseAst } from 'vitest/node'
import type { Source } from './sources.ts'

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}
interface MemberNode extends Node {
  readonly optional: boolean
  /** None of an index or a call signature. */
  readonly key?: { readonly name?: string }
}
interface InterfaceNode extends Node {
  readonly id: { readonly name: string }
  readonly body: { readonly body: readonly MemberNode[] }
}

export interface Member {
  readonly name: string
  readonly optional: boolean
  /** As it is written: what follows the name. */
  readonly type: string
  /** Without its stars; empty for none. */
  readonly comment: string
}

export interface Interface {
  readonly path: string
  readonly name: string
  readonly comment: string
  readonly members: readonly Member[]
}

/** The comment that ends right before `start`, without its stars. */
function commentBefore(text: string, start: number): string {
  const found = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export\s+)?$/.exec(text.slice(0, start))
  return (found?.[1] ?? '').replace(/^\s*\*\s?/gm, '').trim()
}

export function interfacesOf({ path, text }: Pick<Source, 'path' | 'text'>): Interface[] {
  if (!/\binterface \w/.test(text)) return []
  const { body } = parseAst(text, { lang: 'ts' }) as unknown as { readonly body: readonly (Node & { readonly declaration?: Node })[] }
  const found = body.map((node) => node.declaration ?? node).filter((node) => node.type === 'TSInterfaceDeclaration') as InterfaceNode[]
  return found.map((one) => ({
    path,
    name: one.id.name,
    comment: commentBefore(text, one.start),
    members: one.body.body.flatMap((member) => {
      const name = member.key?.name
      if (name === undefined) return []
      const type = typeOf(text.slice(member.start, member.end), name)
      return [{ name, optional: member.optional, type, comment: commentBefore(text, member.start) }]
    }),
  }))
}

function typeOf(text: string, name: string): string {
  return text.slice(text.indexOf(name) + name.length).replace(/^\??:?\s*/, '')
}
