// On a Node that is too old: a typed refusal, and the process lives.
import { openEngine } from '@millrace/engine'

openEngine({ file: 'old.db' }).then(
  () => process.stdout.write('opened'),
  ({ name, code, message }) => process.stdout.write(JSON.stringify({ name, code, message })),
)
