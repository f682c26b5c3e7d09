/** `millrace doctor`: checks a file or a schema, read-only and whether or not it is open, and prints what each check found. */
import { statSync } from 'node:fs'
import type { FileFacts, FileProblems, probeOwner } from '@millrace/sqlite'
import type { Command } from 'commander'
import { chance, now } from '../clock.ts'
import type { Context } from '../context.ts'
import { controlFault } from '../control.ts'
import { FailedError, NotFoundError, UsageError } from '../errors.ts'
import { bytesText, countText, durationText, many, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Paint } from '../output/style.ts'
import { tableLines } from '../output/table.ts'
import { assertQueue, fileOf, type Target } from '../target.ts'

type SchemaTarget = Extract<Target, { readonly kind: 'postgres' }>
type Verdict = 'ok' | 'warning' | 'problem'

interface Check {
  readonly check: string
  readonly verdict: Verdict
  readonly found: string
  /** The advice on what to do about it. */
  readonly remedy?: string
  /** All findings, if there are more than fit a line. */
  readonly details?: readonly string[]
}

/** The size beyond which new work is rejected. */
const WAL_MAX_BYTES = 2 ** 30
const WAL_LARGE_BYTES = 256 * 2 ** 20
/** The tolerance for clocks that differ. A last event that is further ahead causes a warning. */
const AHEAD_MS = 60_000

export function addDoctor(program: Command, context: Context): void {
  program
    .command('doctor')
    .description('Check a database file or a schema of Postgres, even while it is open: integrity, counters, settings, owner, log, clock')
    .option('--recount', 'correct the counters of a schema of Postgres that no process has open')
    .action(async ({ recount = false }: { readonly recount?: boolean }) => {
      const { out } = context
      const target = context.target()
      const { of, checks, facts } = target.kind === 'postgres' ? await schemaChecks(target, recount) : await fileChecks(target, recount)
      const bad = checks.filter(({ verdict }) => verdict === 'problem').length
      await out.answer({ ...of, healthy: bad === 0, checks, facts }, () => checkLines(checks, out.paint))
      if (bad > 0) throw new FailedError(`${many(bad, 'check')} found a problem in ${Object.values(of)[0]}`)
    })
}

interface Findings {
  readonly of: Readonly<Record<string, string>>
  readonly checks: readonly Check[]
  readonly facts: object
}

async function fileChecks(target: Target, recount: boolean): Promise<Findings> {
  const why =
    'doctor checks a file or a schema: run it with --file on the machine of the file, or with --postgres; the engine may be running'
  const file = fileOf(target, why)
  if (recount) throw new UsageError('--recount is for a schema of Postgres: nothing but an engine writes a file')
  await assertQueue(file)
  const { auditFile, probeOwner } = await import('@millrace/sqlite')
  const { facts, problems } = auditFile(file)
  const control = controlCheck(await controlFault(file))
  return { of: { file }, checks: [...checksOf(file, facts, problems, probeOwner(file)), control], facts: shownFacts(facts) }
}

/** Checks what Postgres itself does not: whatever the engine counts beside the jobs, which somebody may have deleted by SQL. */
async function schemaChecks({ postgres, schema }: SchemaTarget, recount: boolean): Promise<Findings> {
  const { auditSchema, inspectSchema, recountSchema } = await import('@millrace/postgres')
  const at = { url: postgres, schema }
  const facts = inspectSchema(at)
  if (facts.schemaVersion === 0) throw new NotFoundError(`there is no schema ${schema} yet: millrace migrate creates it`)
  if (recount) recountSchema({ ...at, durability: 'full', waitMs: 0, random: chance, now: now() })
  const isKnown = recount || facts.schemaVersion === facts.knownVersion
  const remedy = 'somebody has changed rows: stop all processes of the schema, run millrace doctor --recount, and start them again'
  return {
    of: { schema },
    checks: [
      schemaCheck(recount ? inspectSchema(at) : facts),
      ...(isKnown ? [listCheck('counters', auditSchema(at), 'are the rows', remedy)] : []),
    ],
    facts,
  }
}

function shownFacts({ createdAt, lastEventAt, migrations, ...facts }: FileFacts): object {
  return {
    ...facts,
    createdAt: new Date(createdAt),
    lastEventAt: lastEventAt === 0 ? undefined : new Date(lastEventAt),
    migrations: migrations.map(({ appliedAt, ...migration }) => ({ ...migration, appliedAt: new Date(appliedAt) })),
  }
}

type Owner = ReturnType<typeof probeOwner>

function checksOf(file: string, facts: FileFacts, { integrity, counters, lists }: FileProblems, owner: Owner): readonly Check[] {
  return [
    schemaCheck(facts),
    ownerCheck(facts, owner),
    accessCheck(file),
    settingsCheck(facts),
    listCheck('integrity', integrity, 'every page, row and reference is sound', 'stop the engine and restore a backup; keep the file'),
    // Counters and lists of another schema were not checked.
    ...(facts.schemaVersion === facts.knownVersion
      ? [
          listCheck('counters', counters, 'are the rows', 'stats are wrong: report this with the file'),
          listCheck('lists', lists, 'every finished and running job is found', 'restart the engine; report this with the file if it stays'),
        ]
      : []),
    walCheck(facts),
    spaceCheck(facts),
    clockCheck(facts),
  ]
}

function schemaCheck({ schemaVersion, knownVersion }: Pick<FileFacts, 'schemaVersion' | 'knownVersion'>): Check {
  if (schemaVersion === knownVersion) return { check: 'schema', verdict: 'ok', found: `version ${schemaVersion}` }
  const found = `version ${schemaVersion}; this version of millrace knows ${knownVersion}`
  return schemaVersion < knownVersion
    ? { check: 'schema', verdict: 'warning', found, remedy: 'counters and lists are looked at after millrace migrate' }
    : { check: 'schema', verdict: 'warning', found, remedy: 'counters and lists are looked at by that millrace' }
}

function ownerCheck({ epoch }: FileFacts, owner: Owner): Check {
  const opened = `opened ${countText(epoch)} times`
  if (owner === undefined) return { check: 'owner', verdict: 'ok', found: `no process has it open; ${opened}` }
  if (owner === 'unknown') return { check: 'owner', verdict: 'ok', found: `is being opened; ${opened}` }
  const since = timeText(new Date(owner.startedAt))
  return { check: 'owner', verdict: 'ok', found: `process ${owner.pid} on ${owner.host} since ${since}; ${opened}` }
}

/** Checks who may read the file, and so lock it. Windows has no modes. */
function accessCheck(file: string): Check {
  const check = 'access'
  if (process.platform === 'win32') return { check, verdict: 'ok', found: 'as its folder allows' }
  const mode = statSync(file).mode & 0o777
  const shown = `mode 0${mode.toString(8)}`
  if ((mode & 0o007) !== 0) {
    const remedy = 'the next start of an engine sets mode 0600; until then run chmod 600 on it and on the files beside it'
    return { check, verdict: 'warning', found: `other users may read or write it: ${shown}`, remedy }
  }
  return { check, verdict: 'ok', found: `${(mode & 0o070) === 0 ? 'its owner alone' : 'its owner and its group'}: ${shown}` }
}

function settingsCheck({ settings, journalMode }: FileFacts): Check {
  const wrong = settings.filter(({ value, wanted }) => value !== wanted)
  const sound = [...settings.map(({ name, value }) => `${name} ${value}`), `journal_mode ${journalMode}`].join(', ')
  if (wrong.length === 0) return { check: 'settings', verdict: 'ok', found: sound }
  const found = wrong.map(({ name, value, wanted }) => `${name} is ${value}, not ${wanted}`).join(', ')
  return { check: 'settings', verdict: 'problem', found, remedy: 'another program has created the file again: restore a backup' }
}

function listCheck(check: string, problems: readonly string[], fine: string, remedy: string): Check {
  const [first] = problems
  if (first === undefined) return { check, verdict: 'ok', found: fine }
  return {
    check,
    verdict: 'problem',
    found: problems.length === 1 ? first : `${many(problems.length, 'problem')}`,
    remedy,
    details: problems,
  }
}

function controlCheck(fault: string | undefined): Check {
  const check = 'control database'
  if (fault === undefined) return { check, verdict: 'ok', found: 'tokens, endpoints and the audit can be stored' }
  return { check, verdict: 'problem', found: 'calls that need admin are refused', remedy: fault }
}

function walCheck({ walBytes }: FileFacts): Check {
  const found = bytesText(walBytes)
  const check = 'write-ahead log'
  const remedy = 'a program reads the file slowly, so the log cannot shrink: end that read'
  if (walBytes > WAL_MAX_BYTES) return { check, verdict: 'problem', found: `${found}: new work is refused`, remedy }
  if (walBytes > WAL_LARGE_BYTES) return { check, verdict: 'warning', found, remedy }
  return { check, verdict: 'ok', found }
}

function spaceCheck({ fileBytes, freePages, pageBytes }: FileFacts): Check {
  return { check: 'space', verdict: 'ok', found: `${bytesText(fileBytes)}, ${bytesText(freePages * pageBytes)} of it free` }
}

function clockCheck({ lastEventAt }: FileFacts): Check {
  const check = 'clock'
  if (lastEventAt === 0) return { check, verdict: 'ok', found: 'nothing has happened in the file yet' }
  const ahead = lastEventAt - now()
  if (ahead <= AHEAD_MS) return { check, verdict: 'ok', found: `the last event was at ${timeText(new Date(lastEventAt))}` }
  return {
    check,
    verdict: 'warning',
    found: `the last event is ${durationText(ahead)} ahead of this clock`,
    remedy: 'one of the machines has had a wrong clock: check this one',
  }
}

function checkLines(checks: readonly Check[], paint: Paint): Text[] {
  const style = { ok: 'green', warning: 'yellow', problem: 'red' } as const
  const rows = tableLines<Check>(
    [
      { title: 'CHECK', text: ({ check }) => check },
      { title: '', text: ({ verdict }) => paint(style[verdict], verdict) },
      { title: 'FOUND', text: ({ found }) => found },
    ],
    checks,
    (title) => paint('bold', title),
  )
  const more = checks.flatMap(({ check, details = [], remedy }) => [
    ...(details.length > 1 ? details.map((detail) => `${check}: ${detail}`) : []),
    ...(remedy === undefined ? [] : [`${check}: ${remedy}`]),
  ])
  return more.length === 0 ? rows : [...rows, '', ...more]
}
