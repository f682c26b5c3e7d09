// Moves a store, and kills itself behind so many pages. Arguments: both addresses, as JSON, and the number.
import { moveStore } from '@millrace/engine'

const [from, to, pages] = process.argv.slice(2).map((text) => JSON.parse(text))
let page = 0
const { tables } = await moveStore({
  from,
  to,
  onProgress: ({ phase, table }) => {
    if (++page === pages) process.kill(process.pid, 'SIGKILL')
    process.stdout.write(`${phase} ${table}\n`)
  },
})
process.stdout.write(`moved ${tables.length}\n`)
