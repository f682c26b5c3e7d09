/**
 * Serves the page from its sources, and passes calls of the API on to a daemon that runs: `pnpm --filter @millrace/dashboard dev`.
 * `MILLRACE_URL` is the address of the daemon, by default http://127.0.0.1:7410.
 */
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const target = process.env['MILLRACE_URL'] ?? 'http://127.0.0.1:7410'
const server = await createServer({
  configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
  base: '/',
  // The Host of the request stays, so that changes by cookie count as those of the same origin.
  server: { host: '127.0.0.1', proxy: { '/v1': { target, changeOrigin: false } } },
})
await server.listen()
server.printUrls()
