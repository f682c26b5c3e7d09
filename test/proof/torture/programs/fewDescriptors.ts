/**
 * Opens a file, or backs it up, or lists its jobs, while the process may open few files more, or none: `fewDescriptors.ts <folder>
 * open|backup|list` under a small `ulimit -n`. Says how each went.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, MillraceError, openEngine } from '@millrace/engine'

const [folder, what] = process.argv.slice(2) as [string, 'open' | 'backup' | 'list']
const file = join(folder, 'jobs.db')
const say = (line: string) => process.stdout.write(`${line}\n`)
const codeOf = (error: unknown) => (error instanceof MillraceError ? error.code : `!${String(error).replaceAll('\n', ' ')}`)

const held: number[] = []

/** Takes every descriptor that is to be had, but for so many. */
function hoard(left: number): void {
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'))
    } catch {
      break
    }
  }
  letGo(left)
}

function letGo(count: number): void {
  for (const descriptor of held.splice(0, count)) closeSync(descriptor)
}

async function openings(): Promise<void> {
  for (let left = 40; left >= 0; left -= 2) {
    hoard(left)
    say(`trying ${left}`)
    const outcome = await openEngine({ file }).then(async (engine) => {
      const enqueued = await engine.enqueue('a').then(({ id }) => `enqueued ${id}`, codeOf)
      await engine.stop()
      return enqueued
    }, codeOf)
    letGo(held.length)
    say(outcome.startsWith('enqueued') ? outcome : `without ${left}: ${outcome}`)
  }
}

async function backups(engine: Engine): Promise<void> {
  hoard(0)
  say(`without: ${await engine.backup(join(folder, 'copy.db')).then(() => 'done', codeOf)}`)
  say(`left behind ${existsSync(join(folder, 'copy.db.partial'))}`)
  say(`enqueued ${(await engine.enqueue('a')).id}`)
  letGo(held.length)
  say(`again: ${await engine.backup(join(folder, 'copy.db')).then(() => 'done', codeOf)}`)
}

/** The reader threads start with the first question. */
async function lists(engine: Engine): Promise<void> {
  hoard(0)
  say(`without: ${await engine.list().then(() => 'done', codeOf)}`)
  say(`enqueued ${(await engine.enqueue('a')).id}`)
  letGo(held.length)
  say(`again: ${await engine.list().then(() => 'done', codeOf)}`)
}

// All that is loaded late is loaded.
const first = await openEngine({ file })
say(`enqueued ${(await first.enqueue('a')).id}`)
await first.list()
await first.stop()

if (what === 'open') await openings()
const engine = await openEngine({ file })
if (what === 'backup') await backups(engine)
if (what === 'list') await lists(engine)
say(`enqueued ${(await engine.enqueue('a')).id}`)
await engine.stop()
say('stopped')
