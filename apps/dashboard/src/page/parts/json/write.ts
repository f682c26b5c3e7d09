/** Writes JSON with indents. Numbers keep their digits. */
import { isContainer } from './lines.ts'
import type { JsonNode } from './parse.ts'

export function writeJson(node: JsonNode, indent = ''): string {
  if (node.kind === 'string') return JSON.stringify(node.text)
  if (!isContainer(node)) return node.text
  const [begin, end] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
  if (node.entries.length === 0) return begin + end
  const inner = `${indent}  `
  const lines = node.entries.map(
    ({ key, node: value }) => `${inner}${key === undefined ? '' : `${JSON.stringify(key)}: `}${writeJson(value, inner)}`,
  )
  return `${begin}\n${lines.join(',\n')}\n${indent}${end}`
}
