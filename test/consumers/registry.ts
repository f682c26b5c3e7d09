/**
 * A registry on 127.0.0.1 that has the packed packages, and refers to the registry that npm is configured for with all others. An install
 * of a tarball by its path is not what a user does: it writes another lock.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
}

export interface Registry {
  readonly url: string
  /** The packages that it has itself. */
  readonly names: readonly string[]
  close(): Promise<void>
}

/** @param folder the folder of the tarballs */
export async function startRegistry(folder: string): Promise<Registry> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/?$/, '/')
  const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  const packages = new Map(tarballs.map((file) => [manifestOf(join(folder, file)).name, file]))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const file = packages.get(path)
    if (file !== undefined)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(listing(join(folder, file), `${url}${file}`)))
    else if (tarballs.includes(path)) response.end(readFileSync(join(folder, path)))
    else response.writeHead(302, { location: new URL(request.url?.slice(1) ?? '', upstream).href }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    names: [...packages.keys()],
    close: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** The answer of a registry about a package with one version. */
function listing(file: string, tarball: string): object {
  const manifest = manifestOf(file)
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist: { tarball, integrity } } } }
}

function manifestOf(file: string): Manifest {
  return JSON.parse(execFileSync('tar', ['xzOf', file, 'package/package.json'], { encoding: 'utf8' }))
}
