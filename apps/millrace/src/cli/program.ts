/** The program with its global flags and its commands. Each command is added by its own file. */
import { Command } from 'commander'
import { version } from '../version.ts'
import { askFirst } from './asks.ts'
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addCompletion } from './commands/completion.ts'
import { addConfig } from './commands/config.ts'
import { addDemo } from './commands/demo.ts'
import { addDlq } from './commands/dlq.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEnqueue } from './commands/enqueue.ts'
import { addEvents } from './commands/events.ts'
import { addExport } from './commands/export.ts'
import { addFlows } from './commands/flows.ts'
import { addImport } from './commands/import.ts'
import { addJobs } from './commands/jobs.ts'
import { addKeys } from './commands/keys.ts'
import { addMcp } from './commands/mcp.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOpen } from './commands/open.ts'
import { addOpenapi } from './commands/openapi.ts'
import { addQueues } from './commands/queues.ts'
import { addSchedules } from './commands/schedules.ts'
import { addServe } from './commands/serve.ts'
import { addStats } from './commands/stats.ts'
import { addStatus } from './commands/status.ts'
import { addToken } from './commands/token.ts'
import { addTop } from './commands/top.ts'
import { addWebhooks } from './commands/webhooks.ts'
import { addWorker } from './commands/worker.ts'
import { addWorkers } from './commands/workers.ts'
import type { Context } from './context.ts'
import { configureHelp, finishHelp } from './help.ts'
import { refuseMissing } from './missing.ts'
import { refuseRepeats } from './repeats.ts'

type Add = (program: Command, context: Context) => void

/** Groups of commands, in the order of `millrace --help`. */
const GROUPS: readonly (readonly [heading: string, commands: readonly Add[]])[] = [
  ['Run', [addServe, addOpen, addEnqueue, addImport, addDemo]],
  ['Jobs', [addJobs, addKeys, addDlq, addFlows, addEvents, addExport]],
  ['Queues', [addQueues]],
  ['Schedules', [addSchedules]],
  ['Workers', [addWorker, addWorkers]],
  [
    'Operate',
    [
      addStatus,
      addStats,
      addTop,
      addConfig,
      addToken,
      addWebhooks,
      addAudit,
      addDoctor,
      addBackup,
      addMigrate,
      addOpenapi,
      addMcp,
      addCompletion,
    ],
  ],
]

const EPILOGUE = `
Start here:
  millrace serve                              run the daemon in this folder
  millrace enqueue mail '{"to":"ada"}'        create a job
  millrace worker start --handlers ./jobs.ts  run jobs
  millrace status                             see what waits, runs and fails

Every command takes --file, --postgres, --url, --token and --json; millrace <command> --help shows its flags and examples.
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 too late or taken, 5 busy, 6 no connection, 130 interrupted.`

export function createProgram(context: Context): Command {
  const program = new Command('millrace')
    .description('A durable job queue in one file or in Postgres: create jobs, run them, inspect them.')
    .version(version(), '-V, --version', 'print the version')
    .option('--file <path>', 'database file, running or not (MILLRACE_FILE; default millrace.db)')
    .option('--postgres <url>', 'Postgres in place of a file; prefer MILLRACE_POSTGRES: other users can list arguments')
    .option('--schema <name>', 'schema of that database (MILLRACE_SCHEMA; default millrace)')
    .option('--url <url>', 'running engine: http(s)://host:port, or its socket unix:/path, tcp://host:port, tls://host:port (MILLRACE_URL)')
    .option('--token <token>', 'token of that engine; prefer MILLRACE_TOKEN: other users can list arguments')
    .option('--json', 'print JSON: one object, or a line for each item of a stream')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', EPILOGUE)
  configureHelp(program, context.out)
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(`${heading}:`)
    for (const add of commands) add(program, context)
  }
  askFirst(program, context)
  program.commandsGroup('Help:').helpCommand('help [command]', 'Print the help of a command')
  finishHelp(program)
  refuseRepeats(program)
  refuseMissing(program)
  return program
}
