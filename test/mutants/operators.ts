/**
 * Mutation operators. Each looks at one node of the syntax tree and names what could stand there in its place.
 *
 * Texts for people (errors, log lines) and types are left alone, and so are other strings: one that is not of its closed set does
 * not compile. Numbers other than 0 and 1 are limits and times, for which one more or less is no bug.
 */

/** An ESTree node as the parser gives it. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface Change {
  readonly operator: string
  readonly replacement: string
}

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
}
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }
const ASSIGNMENTS: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '*=': '/=', '??=': '=' }
const METHODS = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    push: 'unshift',
    unshift: 'push',
    pop: 'shift',
    shift: 'pop',
    min: 'max',
    max: 'min',
    floor: 'ceil',
    ceil: 'floor',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    find: 'findLast',
    findLast: 'find',
  }),
)
/** Without the call, the receiver takes its place. */
const DROPPED = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice'])
const CONDITIONS = new Set(['IfStatement', 'ConditionalExpression'])

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** What may replace an expression; `source` is the whole file. */
export function expressionChanges(node: Node, source: string, parent: Node | undefined, key: string): Change[] {
  const { left, right, operator, argument } = node as unknown as { left: Node; right: Node; operator: string; argument: Node }
  const text = (of: Node) => source.slice(of.start, of.end)
  const between = (other: string) =>
    source.slice(node.start, left.end) + source.slice(left.end, right.start).replace(operator, other) + source.slice(right.start, node.end)
  const changes: Change[] = []
  const add = (name: string, ...replacements: readonly string[]) => {
    for (const replacement of replacements) changes.push({ operator: name, replacement })
  }
  if (parent !== undefined && CONDITIONS.has(parent.type) && key === 'test') add('condition', 'true', 'false')
  if (parent?.type === 'WhileStatement' && key === 'test') add('condition', 'false')
  if (node.type === 'BinaryExpression') {
    add('comparison', ...(COMPARISONS[operator] ?? []).map(between))
    const other = ARITHMETIC[operator]
    if (other !== undefined && !isText(node)) add('arithmetic', between(other))
  }
  if (node.type === 'LogicalExpression') {
    if (operator === '&&') add('logical', isBare(node, source, parent) ? `(${between('||')})` : between('||'))
    if (operator === '||') add('logical', between('&&'))
    if (operator === '??') add('nullish', text(left), text(right))
  }
  if (node.type === 'AssignmentExpression' && !isText(right)) {
    const other = ASSIGNMENTS[operator]
    if (other !== undefined) add('assignment', between(other))
  }
  if (node.type === 'UpdateExpression') {
    const other = operator === '++' ? '--' : '++'
    add('update', node['prefix'] === true ? `${other}${text(argument)}` : `${text(argument)}${other}`)
  }
  if (node.type === 'UnaryExpression' && (operator === '!' || operator === '-')) add('unary', text(argument))
  if (node.type === 'Literal') {
    if (node['value'] === 0) add('number', '1')
    if (node['value'] === 1) add('number', '0')
    if (node['value'] === true) add('boolean', 'false')
    if (node['value'] === false) add('boolean', 'true')
  }
  if (node.type === 'CallExpression') add('method', ...callChanges(node, source))
  if (node.type === 'ChainExpression') add('optional', ...unchained(node, source))
  return changes
}

/** `a && b && c` with the first changed is `(a || b) && c`. */
function isBare({ start, end }: Node, source: string, parent: Node | undefined): boolean {
  return parent?.type === 'LogicalExpression' && !(source[start - 1] === '(' && source[end] === ')')
}

function callChanges(node: Node, source: string): string[] {
  const callee = node['callee'] as Node
  if (callee.type !== 'MemberExpression' || callee['computed'] === true || callee['optional'] === true) return []
  const property = callee['property'] as Node
  const receiver = source.slice(node.start, property.start)
  const name = property['name'] as string
  if (DROPPED.has(name)) return [receiver.replace(/\s*\.\s*$/, '')]
  const other = METHODS.get(name)
  return other === undefined ? [] : [receiver + other + source.slice(property.end, node.end)]
}

/** The chain with each `?.` in turn made a plain access. */
function unchained(chain: Node, source: string): string[] {
  const found: string[] = []
  let link = chain['expression'] as Node | undefined
  while (link !== undefined) {
    const base = (link['object'] ?? link['callee'] ?? link['expression']) as Node | undefined
    if (base !== undefined && link['optional'] === true) {
      const mark = source.indexOf('?.', base.end)
      const called = link.type === 'CallExpression' || link['computed'] === true
      found.push(`${source.slice(chain.start, mark)}${called ? '' : '.'}${source.slice(mark + 2, chain.end)}`)
    }
    link = base
  }
  return found
}

/** A chain of `+` with a string in it joins strings. */
function isText(node: Node): boolean {
  if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')) return true
  return node.type === 'BinaryExpression' && [node['left'], node['right']].some((side) => isNode(side) && isText(side))
}

/**
 * True for a statement that can go without making another one's names disappear. The last `return` of a function gives its value:
 * only earlier ones can go.
 *
 * @param body the body of a function, if the statement is directly in one
 */
export function removable(node: Node, body: Node | undefined): boolean {
  if (node.type === 'ThrowStatement' || node.type === 'ContinueStatement' || node.type === 'BreakStatement') return true
  if (node.type === 'ReturnStatement') return (body?.['body'] as Node[] | undefined)?.at(-1) !== node
  if (node.type !== 'ExpressionStatement') return false
  let expression = node['expression'] as Node
  if (expression.type === 'AwaitExpression') expression = expression['argument'] as Node
  if (expression.type === 'UnaryExpression' && expression['operator'] === 'void') expression = expression['argument'] as Node
  if (expression.type === 'ChainExpression') expression = expression['expression'] as Node
  if (expression.type === 'CallExpression') return (expression['callee'] as Node).type !== 'Super'
  return expression.type === 'AssignmentExpression'
}

const SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY)\b|^ ?AND /
const KEYWORD = /\b(?:SET|WHERE|AND|OR|ON|WHEN|BETWEEN|VALUES|INSERT|CONFLICT)\b/g
const SQL_CHANGES: readonly (readonly [RegExp, string])[] = [
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ = /g, ' <> '],
  [/\bAND\b/g, 'OR'],
  [/\bOR\b/g, 'AND'],
  [/ DESC\b/g, ''],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bNOT (?=IN|EXISTS)\b/g, ''],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
]

/** Changes within the text of a statement of SQL: its comparisons, conditions and order. */
export function sqlChanges(node: Node, source: string): Change[] {
  const isString = node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')
  const text = source.slice(node.start, node.end)
  if (!isString || !SQL.test(text.slice(1))) return []
  const holes = node.type === 'TemplateLiteral' ? (node['expressions'] as Node[]) : []
  const changes: Change[] = []
  for (const [pattern, becomes] of SQL_CHANGES) {
    for (const match of text.matchAll(pattern)) {
      const at = node.start + match.index
      if (holes.some((hole) => hole.start <= at && at < hole.end)) continue
      const before = text.slice(0, match.index).match(KEYWORD)?.at(-1) ?? ''
      // `SET a = ?`, `BETWEEN ? AND ?` and `INSERT OR REPLACE` are no conditions.
      if (match[0] === ' = ' && !['WHERE', 'AND', 'OR', 'ON', 'WHEN'].includes(before)) continue
      if (match[0] === 'AND' && before === 'BETWEEN') continue
      if (match[0] === 'OR' && before === 'INSERT') continue
      changes.push({ operator: 'sql', replacement: text.slice(0, match.index) + becomes + text.slice(match.index + match[0].length) })
    }
  }
  return changes
}
