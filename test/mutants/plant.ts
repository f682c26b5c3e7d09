/**
 * The planter. It finds the mutants of a source file, and writes the file anew with a switch at each: `mutant(17) ? changed : as is`.
 * So one copy of the repository holds them all, and the environment says which one is on.
 */
import { parseAst } from 'vitest/node'
import { type Change, expressionChanges, isNode, type Node, removable, sqlChanges } from './operators.ts'
import { mutatedPython } from './python.ts'

export interface Mutant {
  /** From the repository's root. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly operator: string
  /** The lines that it changes, with every run of spaces as one; a key that lasts while lines move. */
  readonly before: string
  readonly after: string
}

/** A place in a file with its mutants, and the places within it. */
export interface Site {
  readonly kind: 'expression' | 'statement' | 'block' | 'guard'
  readonly start: number
  readonly end: number
  readonly changes: Change[]
  /** By change; undefined for one that is not planted. */
  readonly ids: (number | undefined)[]
  readonly within: Site[]
}

/** A file as it was read, with its mutants in the order of their places. */
export interface Parsed {
  readonly file: string
  readonly source: string
  readonly root: Site
  readonly mutants: readonly Mutant[]
}

const TYPES = new Set(['typeAnnotation', 'typeParameters', 'typeArguments', 'returnType', 'superTypeArguments', 'implements', 'decorators'])
const WRAPPERS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression', 'TSInstantiationExpression'])
const SKIPPED = /^(?:Import|ExportAll|TS)/
const LOGS = /^(?:log|debug|info|warn|error)$/
/** The path of a chain `a?.b.c(d)`: in brackets it would lose what `?.` skips. */
const PATH = new Set(['object', 'callee', 'expression'])
const LISTS = new Set(['Program', 'BlockStatement', 'SwitchCase', 'StaticBlock'])

export function parse(file: string, source: string): Parsed {
  const program = parseAst(source, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }, file) as unknown as Node
  const root = site('guard', 0, source.length, [])
  visit(
    program,
    { source, sql: /^packages\/(?:sql|sqlite|postgres)\//.test(file) },
    { site: root, parent: undefined, body: undefined, key: '', chained: false },
  )
  const mutants: Mutant[] = []
  const collect = (at: Site): void => {
    for (const { operator, replacement } of at.changes) mutants.push({ file, operator, ...described(source, at, replacement) })
    at.within.forEach(collect)
  }
  collect(root)
  return { file, source, root, mutants }
}

/** The file with one of its mutants in place of what is there. */
export function mutated(parsed: Parsed, index: number): string {
  if (parsed.file.endsWith('.py')) return mutatedPython(parsed, index)
  const planted = plant(parsed, (at) => (at === index ? 0 : undefined), '')
  return planted.slice(planted.indexOf(';') + 2).replace('__mutant(0)', 'true')
}

/** The file with switches for those of its mutants that `idOf` gives a number; as it was where there are none. */
export function plant({ source, root }: Parsed, idOf: (index: number) => number | undefined, from: string): string {
  let index = 0
  let planted = 0
  const number = (at: Site): void => {
    for (const place of at.changes.keys()) {
      at.ids[place] = idOf(index++)
      if (at.ids[place] !== undefined) planted++
    }
    at.within.forEach(number)
  }
  number(root)
  // On the first line, so that all others keep their numbers.
  return planted === 0 ? source : `import { mutant as __mutant } from ${JSON.stringify(from)}; ${inner(source, root)}`
}

function site(kind: Site['kind'], start: number, end: number, changes: Change[]): Site {
  return { kind, start, end, changes, ids: [], within: [] }
}

/** The lines of a change. If nothing else is on them, such as with `return undefined`, the lines around tell it from others. */
function described(source: string, { start, end }: Site, replacement: string): Pick<Mutant, 'line' | 'before' | 'after'> {
  const lineFrom = (place: number) => source.lastIndexOf('\n', place - 1) + 1
  const lineTo = (place: number) => {
    const newline = source.indexOf('\n', place)
    return newline === -1 ? source.length : newline
  }
  let [from, to] = [lineFrom(start), lineTo(end)]
  if (source.slice(from, start).trim() === '' && source.slice(end, to).trim() === '')
    [from, to] = [lineFrom(Math.max(0, from - 1)), lineTo(Math.min(source.length, to + 1))]
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim()
  return {
    line: source.slice(0, start).split('\n').length,
    before: plain(source.slice(from, to)),
    after: plain(source.slice(from, start) + replacement + source.slice(end, to)),
  }
}

interface Looked {
  readonly source: string
  readonly sql: boolean
}

interface Around {
  readonly site: Site
  readonly parent: Node | undefined
  /** The parent, if it is the body of a function. */
  readonly body: Node | undefined
  /** The field of the parent that this node is in. */
  readonly key: string
  /** The node is on the path of an optional chain. */
  readonly chained: boolean
}

function visit(node: Node, looked: Looked, around: Around): void {
  if (WRAPPERS.has(node.type)) {
    visit(node['expression'] as Node, looked, { ...around, parent: node, key: 'expression' })
    return
  }
  if (SKIPPED.test(node.type) || isForPeople(node)) return
  const found = siteOf(node, looked, around)
  if (found !== undefined) around.site.within.push(found)
  // What a thrown error says is for people.
  if (node.type === 'ThrowStatement') return
  const chained = node.type === 'ChainExpression' || around.chained
  for (const [key, value] of Object.entries(node)) {
    if (TYPES.has(key) || isName(node, key)) continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (!isNode(child)) continue
      const body = key === 'body' && around.parent !== undefined && isFunction(around.parent) ? node : undefined
      visit(child, looked, { site: found ?? around.site, parent: node, body, key, chained: chained && PATH.has(key) })
    }
  }
}

function siteOf(node: Node, { source, sql }: Looked, { parent, body, key, chained }: Around): Site | undefined {
  const { start, end } = node
  if (removable(node, body)) return site('statement', start, end, [{ operator: 'removal', replacement: '' }])
  if (node.type === 'BlockStatement' && parent !== undefined && isFunction(parent)) {
    return emptied(node, parent) ? site('block', start, end, [{ operator: 'empty', replacement: '{}' }]) : undefined
  }
  if (node.type === 'ExpressionStatement') return LISTS.has(parent?.type ?? '') ? site('guard', start, end, []) : undefined
  if (chained || (parent?.type === 'UnaryExpression' && parent['operator'] === 'delete')) return undefined
  if (/Statement$|Pattern$|^Program$/.test(node.type)) return undefined
  const changes = expressionChanges(node, source, parent, key)
  if (sql) changes.push(...sqlChanges(node, source))
  return changes.length === 0 ? undefined : site('expression', start, end, changes)
}

const isFunction = (node: Node): boolean => /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)

/** A function of several statements that gives nothing back. */
function emptied(body: Node, of: Node): boolean {
  if ((body['body'] as Node[]).length < 2 || of['generator'] === true) return false
  const returns = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(returns)
    if (!isNode(value) || isFunction(value)) return false
    if (value.type === 'Super' || (value.type === 'ReturnStatement' && value['argument'] !== null)) return true
    return Object.values(value).some(returns)
  }
  return !returns(body['body'])
}

/** The name of a field, of a property or of what is declared. */
function isName(node: Node, key: string): boolean {
  if (key === 'id' || key === 'label') return true
  if (key === 'key' || key === 'property') return node['computed'] !== true
  return node.type === 'NewExpression' && key === 'callee'
}

function isForPeople(node: Node): boolean {
  const callee = node['callee'] as Node | undefined
  if (node.type === 'NewExpression') return /Error$/.test(String(callee?.['name'] ?? ''))
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return false
  return LOGS.test(String((callee['property'] as Node)['name'] ?? ''))
}

function inner(source: string, at: Site): string {
  let text = ''
  let place = at.start
  for (const child of at.within) {
    text += source.slice(place, child.start) + switched(source, child)
    place = child.end
  }
  return text + source.slice(place, at.end)
}

function switched(source: string, at: Site): string {
  const text = inner(source, at)
  const on = at.changes.flatMap(({ replacement }, place) => {
    const id = at.ids[place]
    return id === undefined ? [] : [{ test: `__mutant(${id})`, replacement }]
  })
  const [first] = on
  // A line that begins with a bracket would belong to the one before it.
  if (at.kind === 'guard') return text.startsWith('(') ? `;${text}` : text
  if (first === undefined) return at.kind === 'statement' && text.startsWith('(') ? `{ ${text} }` : text
  if (at.kind === 'statement') return `{ if (!${first.test}) { ${text} } }`
  if (at.kind === 'block') return `{ if (!${first.test}) ${text} }`
  return `(${on.map(({ test, replacement }) => `${test} ? (${replacement}) : `).join('')}(${text}))`
}
