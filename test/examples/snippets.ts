/** The TypeScript of a page, run as one program in apps/examples. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BUILT } from '../built.ts'
import { type Ended, run } from '../consumers/run.ts'

const ROOT = new URL('../../', import.meta.url)
const EXAMPLES = fileURLToPath(new URL('apps/examples', ROOT))

export interface Surroundings {
  /** Code before the snippets: what a page leaves to its reader. */
  readonly given?: string
  /** Code behind them, which prints what the test looks at, and ends the program. */
  readonly after: string
  /** What stands for paths of the page. */
  readonly instead?: Readonly<Record<string, string>>
}

export function snippetsOf(page: string): readonly string[] {
  return [...readFileSync(new URL(page, ROOT), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}

/** Runs the snippets of a page, all of them or those that are chosen. */
export function runSnippets(
  page: string,
  { given = '', after, instead = {} }: Surroundings,
  choose = (_: string, _index: number): boolean => true,
): Promise<Ended> {
  const code = [given, ...snippetsOf(page).filter(choose), after].join('\n')
  const placed = Object.entries(instead).reduce((text, [path, other]) => text.replaceAll(path, other), code)
  return run(process.execPath, ['--input-type=module-typescript', '--no-warnings', '-e', placed], EXAMPLES, { env: BUILT })
}
