/** The programs that build and run an image without a daemon, and a base for it where no registry of images is. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRequired } from '../required.ts'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/millrace-image', import.meta.url))
const PROGRAMS = ['buildah', 'umoci', 'runc', 'mmdebstrap'] as const
/** npm's settings of this user, which may name the registry. They are mounted for the build, and are no part of the image. */
const NPMRC = join(homedir(), '.npmrc')

/** The reason why no image can be built here; undefined if it can. @throws Error if TEST_IMAGE requires it */
export function whyNot(): string | undefined {
  const reason = reasonOf()
  if (reason !== undefined && isRequired('TEST_IMAGE')) throw new Error(`an image is required (TEST_IMAGE): ${reason}`)
  return reason
}

function reasonOf(): string | undefined {
  if (process.platform !== 'linux') return `images are built on Linux, not on ${process.platform}`
  const missing = PROGRAMS.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
  if (missing.length > 0) return `no ${missing.join(', ')} on this machine: on Debian, apt-get install ${PROGRAMS.join(' ')}`
  return process.getuid?.() === 0 ? undefined : 'a root filesystem is made and entered by root alone'
}

/** Runs a program to its end, and returns what it has printed. @throws Error with its output, if it fails */
export function must(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, ...env },
  })
  if (status !== 0)
    throw new Error(`${file} ${args.join(' ')} ended with ${status ?? error?.message}:\n${stdout?.slice(-4_000)}${stderr?.slice(-4_000)}`)
  return stdout
}

/** Settings of Buildah: a store of its own in the folder, and no container runtime. */
export function buildahIn(folder: string): NodeJS.ProcessEnv {
  const conf = join(folder, 'storage.conf')
  const lines = ['[storage]', 'driver = "overlay"', `graphroot = "${join(folder, 'storage')}"`, `runroot = "${join(folder, 'run')}"`]
  writeFileSync(conf, `${lines.join('\n')}\n`)
  return { CONTAINERS_STORAGE_CONF: conf, STORAGE_DRIVER: 'overlay', BUILDAH_ISOLATION: 'chroot' }
}

/** Flags of Buildah by which `npm` in a build finds what it finds here. */
export const likeHere = (): string[] => ['--network', 'host', ...(existsSync(NPMRC) ? ['--volume', `${NPMRC}:/root/.npmrc:ro`] : [])]

/** Commits `node:24-slim` as it can be made here: Debian, this Node, its npm, the user `node`. */
export function commitBase(folder: string, tag: string, env: NodeJS.ProcessEnv): void {
  const root = join(folder, 'base')
  must('tar', ['--extract', '--file', debian(), '--directory', makeFolder(root), '--exclude=./dev/*'])
  const local = join(root, 'usr/local')
  copyFileSync(realpathSync(process.execPath), join(local, 'bin/node'))
  const npm = dirname(dirname(realpathSync(must('sh', ['-c', 'command -v npm']).trim())))
  cpSync(npm, join(makeFolder(join(local, 'lib/node_modules')), 'npm'), { recursive: true })
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
  for (const command of [
    ['groupadd', '--gid', '1000'],
    ['useradd', '--uid', '1000', '--gid', 'node', '--create-home'],
  ])
    must('chroot', [root, ...command, 'node'])
  const authorities = process.env['NODE_EXTRA_CA_CERTS']
  if (authorities !== undefined) copyFileSync(authorities, join(root, 'etc/ssl/extra.pem'))
  const container = must('buildah', ['from', 'scratch'], env).trim()
  must('buildah', ['add', '--quiet', container, root, '/'], env)
  const variables = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
  if (authorities !== undefined) variables.push('NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem')
  must('buildah', ['config', ...variables.flatMap((variable) => ['--env', variable]), container], env)
  must('buildah', ['commit', '--quiet', '--rm', container, tag], env)
  rmSync(root, { recursive: true, force: true })
}

/** Made once, and kept: it takes longer than all else. */
function debian(): string {
  const file = join(makeFolder(CACHE), 'bookworm.tar')
  if (existsSync(file)) return file
  const part = join(CACHE, `part-${process.pid}.tar`)
  must('mmdebstrap', ['--quiet', '--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', part])
  renameSync(part, file)
  return file
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true })
  return folder
}
