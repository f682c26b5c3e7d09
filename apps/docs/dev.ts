/** Serves the site from the pages, and shows what changes in them at once. */
import { createServer } from 'vitepress'

const server = await createServer(import.meta.dirname, { host: '127.0.0.1' })
await server.listen()
server.printUrls()
