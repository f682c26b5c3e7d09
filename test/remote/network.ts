/** Two Linux network namespaces with a cable between them that can be pulled: where this system has them to give. */
import { spawnSync } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** `within` runs a program in one of them. */
export interface Network {
  readonly server: { readonly within: readonly string[]; readonly address: string }
  readonly worker: { readonly within: readonly string[] }
  /** Nothing passes any more, and neither end is told. */
  cut(): void
  heal(): void
}

/** The network, or why there is none. */
export function network(): Network | string {
  if (process.platform !== 'linux') return `no network namespaces on ${process.platform}`
  const id = `mr${process.pid.toString(36)}${made++}`
  const [near, far] = [`${id}a`, `${id}b`]
  onTestFinished(() => {
    for (const name of [near, far]) ip('netns', 'delete', name)
  })
  for (const args of [
    ['netns', 'add', near],
    ['netns', 'add', far],
    ['link', 'add', near, 'netns', near, 'type', 'veth', 'peer', 'name', far, 'netns', far],
    ['-n', near, 'address', 'add', '10.211.55.1/30', 'dev', near],
    ['-n', far, 'address', 'add', '10.211.55.2/30', 'dev', far],
    ['-n', near, 'link', 'set', near, 'up'],
    ['-n', far, 'link', 'set', far, 'up'],
  ]) {
    const problem = ip(...args)
    if (problem !== undefined) return `no network namespaces (\`ip ${args.join(' ')}\`: ${problem}); Debian has ip in the package iproute2`
  }
  const within = (name: string) => ['ip', 'netns', 'exec', name]
  const set = (state: 'up' | 'down') => {
    const problem = ip('-n', near, 'link', 'set', near, state)
    if (problem !== undefined) throw new Error(`the cable could not be set ${state}: ${problem}`)
  }
  return {
    server: { within: within(near), address: '10.211.55.1' },
    worker: { within: within(far) },
    cut: () => set('down'),
    heal: () => set('up'),
  }
}

let made = 0

function ip(...args: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (error !== undefined) return error.message
  return status === 0 ? undefined : stderr.trim()
}
