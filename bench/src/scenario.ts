/** The process of one measurement: `node scenario.ts NAME SETTINGS` prints its figures as JSON. */
import { DEFAULT_SETTINGS, type Settings } from './measurement.ts'
import { SCENARIOS } from './scenarios/list.ts'

// So that a server that was started for this run ends with it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

const [name = '', text = '{}'] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (scenario === undefined) throw new Error(`no scenario '${name}': ${Object.keys(SCENARIOS).join(', ')}`)
const given = JSON.parse(text) as Partial<Settings> & { readonly file: string }
const figures = await scenario({ ...DEFAULT_SETTINGS, ...given })
// Another system may leave timers behind that would keep the process for minutes.
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit())
