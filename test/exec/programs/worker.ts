/** A worker that allows one command, which says to a socket that it is there, as does what it starts. Killed by the test. */
import { openEngine } from '@millrace/engine'
import { execHandlers } from '@millrace/exec'

const [file, logFolder, roll] = process.argv.slice(2) as [string, string, string]

/** In text, since the processes are to be of no file of this repository. */
const staying = (name: string) =>
  `require('net').connect(process.argv[1], function () { this.write('${name}-' + process.env.JOB_RUN) }).on('error', () => {});`
const family = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(staying('grandchild'))}, '--', process.argv[1]], { stdio: 'ignore' });${staying('child')}`

const engine = await openEngine({ file })
engine.work(
  execHandlers({ family: { file: process.execPath, args: ['-e', { literal: family }, '--', '{{roll}}'], timeout: '1h' } }, { logFolder }),
)
await engine.enqueue('family', { roll }, { idempotencyKey: 'once' })
