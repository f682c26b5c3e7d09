/**
 * Builds the container image from `apps/millrace/Dockerfile` with the first builder that works here: Docker, Podman or Buildah. Podman and
 * Buildah need no daemon. All of them run the same steps, so the image is the same.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DOCKERFILE = 'apps/millrace/Dockerfile'
// Only images of this format have a health check. Docker builds no others by default.
const DAEMONLESS = ['--format', 'docker', '--ignorefile', `${DOCKERFILE}.dockerignore`]

interface Builder {
  readonly name: string
  /** Ends with 0 if the builder works here. */
  readonly probe: readonly string[]
  readonly build: readonly string[]
  /** Writes an image to an archive. */
  save(tag: string, file: string): readonly string[]
}

const BUILDERS: readonly Builder[] = [
  { name: 'docker', probe: ['info'], build: ['build'], save: (tag, file) => ['save', '--output', file, tag] },
  {
    name: 'podman',
    probe: ['info'],
    build: ['build', ...DAEMONLESS],
    save: (tag, file) => ['save', '--format', 'docker-archive', '--output', file, tag],
  },
  {
    name: 'buildah',
    probe: ['info'],
    build: ['build', '--layers=false', ...DAEMONLESS],
    save: (tag, file) => ['push', tag, `docker-archive:${file}:${tag}`],
  },
]

const NAMES = BUILDERS.map(({ name }) => name)
const HELP = `Build the container image of the daemon.

  pnpm image [flags] [-- flags of the builder]

  --builder <name>   ${NAMES.join(', ')}; default the first that works here
  --tag <name>       default millrace:<version>
  --base <image>     an image with Node, npm and a user \`node\`; default as in the Dockerfile
  --output <file>    write the image to an archive, too: docker load, podman load and skopeo read it
  --help             print this help
`

const works = ({ name, probe }: Builder): boolean => spawnSync(name, probe, { stdio: 'ignore' }).status === 0

function builderOf(name: string | undefined): Builder {
  if (name !== undefined && !NAMES.includes(name)) throw new RangeError(`--builder must be ${NAMES.join(', ')}, got ${name}`)
  const builder = BUILDERS.find((one) => (name === undefined || one.name === name) && works(one))
  if (builder !== undefined) return builder
  throw new Error(
    name === undefined
      ? `none of ${NAMES.join(', ')} works here. Install one: Buildah needs no daemon (on Debian, apt-get install buildah)`
      : `${name} does not work here: ${name} info says why`,
  )
}

const revision = (): string => {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'unknown'
}

function main(args: readonly string[]): void {
  const end = args.indexOf('--')
  const [own, more] = end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)]
  const string = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...own],
    options: { builder: string, tag: string, base: string, output: string, help: { type: 'boolean' } },
  })
  if (values.help === true) {
    console.log(HELP)
    return
  }
  const builder = builderOf(values.builder)
  const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { readonly version: string }
  const tag = values.tag ?? `millrace:${version}`
  const given = { VERSION: version, REVISION: revision(), ...(values.base !== undefined && { NODE_IMAGE: values.base }) }
  const buildArgs = Object.entries(given).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  const run = (command: readonly string[]) => execFileSync(builder.name, command, { cwd: ROOT, stdio: 'inherit' })
  console.log(`building ${tag} with ${builder.name}`)
  run([...builder.build, ...buildArgs, ...more, '--file', DOCKERFILE, '--tag', tag, '.'])
  if (values.output === undefined) return
  // Podman and Buildah refuse an archive that is there.
  rmSync(resolve(ROOT, values.output), { force: true })
  run(builder.save(tag, values.output))
}

try {
  main(process.argv.slice(2))
} catch (error) {
  console.error(`image: ${(error as Error).message}`)
  process.exitCode = 1
}
