const before = performance.now()
const { default: Database } = await import('better-sqlite3')
const { better, defineQueue } = await import('plainjob')
const logger = { error() {}, warn() {}, info() {}, debug() {} }
const queue = defineQueue({ connection: better(new Database(process.argv[2])), logger })
queue.add('first', {})
console.log(JSON.stringify({ first: performance.now() - before }))
queue.close()
