/** Finds the mutants of a Python source, line by line. It has no syntax tree, so it changes only what a line alone shows. */
import type { Mutant, Parsed } from './plant.ts'

const CHANGES: readonly (readonly [operator: string, from: RegExp, to: string])[] = [
  ['comparison', / == /, ' != '],
  ['comparison', / != /, ' == '],
  ['comparison', / < /, ' <= '],
  ['comparison', / <= /, ' < '],
  ['comparison', / > /, ' >= '],
  ['comparison', / >= /, ' > '],
  ['comparison', / is not None/, ' is None'],
  ['comparison', / is None/, ' is not None'],
  ['logical', / and /, ' or '],
  ['logical', / or /, ' and '],
  ['unary', /\bif not /, 'if '],
  ['arithmetic', / \+ (?!["'f])/, ' - '],
  ['arithmetic', / - /, ' + '],
  ['boolean', /\bTrue\b/, 'False'],
  ['boolean', /\bFalse\b/, 'True'],
  ['removal', /^\s+(?:self\.[\w.]+ = |self\.[\w.]+\(|await self\.[\w.]+\().*$/, ''],
]

/** Lines that only people read, or that only declare. */
const LEFT_OUT = /^\s*(?:#|@|def |async def |class |import |from |raise |"""|[\w.]+: )|"""|->/

export function parsePython(file: string, source: string): Parsed {
  const mutants: Mutant[] = []
  let inText = false
  for (const [at, line] of source.split('\n').entries()) {
    const quotes = line.split('"""').length - 1
    const wasText = inText
    if (quotes % 2 === 1) inText = !inText
    if (wasText || inText || LEFT_OUT.test(line)) continue
    for (const [operator, from, to] of CHANGES) {
      const after = line.replace(from, operator === 'removal' ? `${/^\s*/.exec(line)?.[0]}pass` : to)
      // A statement of several lines has its end elsewhere.
      if (after === line || (operator === 'removal' && !/\)$|[\w\]]$/.test(line))) continue
      mutants.push({ file, line: at + 1, operator, before: line.trim(), after: after.trim() })
    }
  }
  return { file, source, root: { kind: 'guard', start: 0, end: source.length, changes: [], ids: [], within: [] }, mutants }
}

export function mutatedPython({ source, mutants }: Parsed, index: number): string {
  const { line, before, after } = mutants[index] as Mutant
  const lines = source.split('\n')
  lines[line - 1] = (lines[line - 1] as string).replace(before, () => after)
  return lines.join('\n')
}
