/** Blocks that test/snippets neither runs nor compares, and why. Each entry is needed: a test fails when one is not. */
import { type Block, isShell } from './blocks.ts'
import { commandsOf } from './script.ts'

interface Held {
  readonly page: string
  /** `shell` for all that a reader pastes into one. */
  readonly language: string
  /** Of the section, if the others of the page are not held. */
  readonly heading?: string
  /** The test that runs them. */
  readonly by: string
}

export const ELSEWHERE: readonly Held[] = [
  { page: 'README.md', language: 'shell', by: 'test/app/readme.test.ts' },
  { page: 'README.md', language: 'js', by: 'test/app/readme.test.ts' },
  { page: 'docs/tutorial.md', language: 'shell', by: 'test/app/tutorial.proof.test.ts' },
  { page: 'docs/tutorial.md', language: '', by: 'test/app/tutorial.proof.test.ts' },
  { page: 'docs/migrate/small-queues.md', language: 'shell', by: 'test/examples/migrateSmall.proof.test.ts' },
  { page: 'docs/bundling.md', language: 'shell', by: 'test/consumers/bundlers.test.ts' },
  { page: 'docs/bundling.md', language: 'js', by: 'test/consumers/bundlers.test.ts' },
  { page: 'docs/create.md', language: 'shell', by: 'test/consumers/create.test.ts' },
  // Each line is for a shell of its own: of those, the test takes what the machine has.
  { page: 'docs/cli.md', language: 'shell', heading: 'Completion', by: 'test/app/completion.proof.test.ts' },
  { page: 'docs/cli.md', language: 'shell', heading: '`millrace completion <shell>`', by: 'test/app/completion.proof.test.ts' },
  { page: 'docs/testing.md', language: 'js', by: 'test/examples/testing.test.ts' },
  { page: 'docs/nestjs.md', language: 'json', by: 'test/frameworks/guides.test.ts' },
  { page: 'docs/postgres.md', language: 'sql', by: 'test/postgres/snippets.test.ts' },
  { page: 'clients/python/README.md', language: 'python', by: 'test/wire/pythonPackage.proof.test.ts' },
]

/** Blocks that nothing here could run. */
export const UNRUNNABLE: readonly (Omit<Held, 'by'> & { readonly because: string })[] = [
  { page: 'docs/migrate/effectum.md', language: 'rust', because: 'a program of another queue, in another language: what its users have' },
  { page: 'CONTRIBUTING.md', language: 'indented', because: 'a line of the report of a run that has no browser' },
]

interface Unrun {
  /** Of the command, as its words. */
  readonly command: RegExp
  readonly because: string
}

/** Commands that are not run. What they name is looked up (programs.ts). A block has no others beside them, or it runs, and they fail. */
export const NOT_RUN: readonly Unrun[] = [
  { command: /^npm (?:install|create)\b/, because: 'the packages are not published: test/consumers packs and installs them' },
  {
    command: /^npm (?:test|start|run \w+)$/,
    because: 'they need an installed project: test/consumers runs them in one of each template, of Prisma and of Next.js',
  },
  {
    command: /^pip install /,
    because: 'it would install for the whole machine: test/wire/pythonPackage.proof.test.ts builds the wheel, and uses it',
  },
  { command: /^pg_dump /, because: 'it refuses a server that is newer than itself, and the server of the tests brings none' },
  { command: /^docker /, because: 'no daemon of containers: test/image builds the image without one, and runs it' },
  { command: /^kubectl /, because: 'no cluster: test/kubernetes renders the manifests, and compares the secrets' },
  { command: /^npx -y pnpm@12 run image /, because: 'it takes minutes, and needs root: test/image builds it' },
  { command: /^pnpm bench:/, because: 'a benchmark takes the whole machine for minutes: test/bench runs short ones' },
  {
    command: /^node apps\/examples\//,
    because: 'test/examples, test/frameworks and test/postgres start each: commands.test.ts looks for them there',
  },
  { command: /^node --test apps\/examples\//, because: 'test/examples/testing.test.ts runs them' },
  { command: /^npx (?:tsc -p|vitest run --root) apps\/examples\//, because: 'test/frameworks and test/examples/testing.test.ts run them' },
  {
    command: /^curl .*:3000\//,
    because:
      'an app of an example answers: test/frameworks/nestjs.proof.test.ts, test/consumers/next.test.ts and test/consumers/create.test.ts ask it',
  },
  { command: /^node --experimental-vm-modules .*\/jest\.js$/, because: 'test/consumers runs jest with the packed packages' },
]

/** Commands that prepare one of those. */
const PREPARING = /^(?:cd|export|openssl) /

const isUnrun = (words: readonly string[]): boolean => NOT_RUN.some(({ command }) => command.test(words.join(' ')))

/** True if no command of a block is run. */
export function isNotRun({ text }: Pick<Block, 'text'>): boolean {
  return commandsOf(text).every(({ words }) => isUnrun(words) || PREPARING.test(words.join(' ')))
}

export const isElsewhere = (block: Block): boolean => ELSEWHERE.some((held) => isOf(held, block))

export function isOf({ page, language, heading }: Omit<Held, 'by'>, block: Block): boolean {
  const isSpoken = language === 'shell' ? isShell(block) : language === block.language
  return page === block.page && isSpoken && (heading === undefined || heading === block.heading)
}
