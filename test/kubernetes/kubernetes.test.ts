// The manifests of deploy/kubernetes: they are what Kubernetes takes, and agree with the defaults of the daemon, its image and its guide.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readEnvironment } from '../../apps/millrace/src/config/environment.ts'
import { SCHEMA } from '../../apps/millrace/src/config/schema/schema.ts'
import { run } from '../consumers/run.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Container, folderOf, kustomizationOf, type Manifest, manifestsOf, parse, ROOT, VARIANTS, workloadsOf } from './manifests.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DOCKERFILE = read('apps/millrace/Dockerfile')
const GUIDE = read('docs/containers.md')
const [, VOLUME] = /^VOLUME (.+)$/m.exec(DOCKERFILE) ?? []
const [, UID] = /^USER (\d+):\d+$/m.exec(DOCKERFILE) ?? []
const DEFAULTS = SCHEMA.parse({})

/** As the checks of a compiler: a field that Kubernetes does not know is an error, and so is a value of another type. */
async function checkTypes(manifests: readonly Manifest[]): Promise<string> {
  const folder = temporaryFolder()
  symlinkSync(join(ROOT, 'test/node_modules'), join(folder, 'node_modules'))
  const values = manifests.map(
    ({ apiVersion, kind, ...rest }, index) =>
      `export const value${index}: import('kubernetes-models/${apiVersion}/${kind}').I${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })}`,
  )
  writeFileSync(join(folder, 'values.ts'), values.join('\n'))
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', 'values.ts']
  return (await run(join(ROOT, 'node_modules/.bin/tsc'), flags, folder, { hangsMs: 120_000 })).stdout
}

describe.each(VARIANTS)('%s', (variant) => {
  const manifests = manifestsOf(variant)
  const workloads = workloadsOf(variant)
  const containers = workloads.flatMap(({ pod }) => pod.containers)

  test('the kustomization lists each file, and has the version of the daemon', () => {
    const { resources, images } = kustomizationOf(variant)
    const files = readdirSync(folderOf(variant)).filter((name) => name !== 'kustomization.yaml')
    expect(resources.toSorted()).toEqual(files.toSorted())
    const { version } = JSON.parse(read('apps/millrace/package.json')) as { readonly version: string }
    expect(images.find(({ name }) => name === 'millrace')?.newTag).toBe(version)
    expect(images.map(({ name }) => name).toSorted()).toEqual([...new Set(containers.map(({ image }) => image))].toSorted())
  })

  test('T9: Kubernetes knows each field, and each value is of its type', async () => {
    expect(await checkTypes(manifests)).toBe('')
    // The check sees a typo, and a string in place of a number.
    const [{ manifest }] = workloads as [(typeof workloads)[number]]
    for (const [change, message] of [
      [{ replicas: '1' }, "Type 'string' is not assignable to type 'number'"],
      [{ replcas: 1 }, '"replcas"'],
    ] as const) {
      const wrong = { ...manifest, spec: { ...manifest.spec, ...change } } as unknown as Manifest
      expect(await checkTypes([wrong])).toContain(message)
    }
  })

  test('kubectl renders it, with the images of the kustomization', ({ skip }) => {
    const { error, status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folderOf(variant)], { encoding: 'utf8' })
    if (error !== undefined) skip(`kubectl cannot be run: ${error.message}`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const file = join(temporaryFolder(), 'rendered.yaml')
    writeFileSync(file, stdout)
    const rendered = parse<Manifest>(file)
    expect(rendered.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted(),
    )
    const images = rendered.flatMap(({ spec }) => spec.template?.spec.containers.map(({ image }) => image) ?? [])
    expect(images.filter((image) => !/^[\w-]+:[\w.-]+$/.test(image))).toEqual([])
    // The policy and the budgets select the Pods that are rendered, and all of those.
    const pods = rendered.flatMap(({ spec }) => (spec.template === undefined ? [] : [spec.template.metadata.labels]))
    for (const { kind, spec } of rendered.filter((one) => one.kind === 'Service' || one.kind === 'PodDisruptionBudget'))
      expect(
        pods.filter((labels) => matches(labels, spec.selector.matchLabels ?? spec.selector)),
        kind,
      ).toHaveLength(1)
    const policy = rendered.find(({ kind }) => kind === 'NetworkPolicy')?.spec as unknown as {
      readonly podSelector: { readonly matchLabels: Record<string, string> }
    }
    expect(pods.filter((labels) => matches(labels, policy.podSelector.matchLabels))).toHaveLength(pods.length)
  })

  test('each Pod satisfies the restricted profile, with a root that is read-only', () => {
    for (const { pod, manifest } of workloads) {
      expect(pod, manifest.metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: Number(UID),
          runAsGroup: Number(UID),
          fsGroup: Number(UID),
          seccompProfile: { type: 'RuntimeDefault' },
        },
      })
      for (const { securityContext, resources } of pod.containers) {
        expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
        expect(resources).toMatchObject({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        })
      }
      const named = [...pod.volumes, ...(manifest.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)].map(({ name }) => name)
      for (const { volumeMounts } of pod.containers) expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(named.toSorted())
    }
  })

  test('a stop has the time that the defaults may take', () => {
    for (const { pod } of workloads) {
      const [{ args }] = pod.containers as readonly [Container]
      const drain = flagOf(args, 'drain-timeout')
      const finishMs = drain === undefined ? DEFAULTS.shutdown.timeout : Number(/^(\d+)s$/.exec(drain)?.[1]) * 1_000
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual((finishMs + DEFAULTS.worker.abortGrace) / 1_000 + 20)
    }
  })

  test('ports and probes are those that the program serves', () => {
    for (const { args, ports, ...container } of containers) {
      const port = Number(flagOf(args, 'health-port') ?? DEFAULTS.http.port)
      expect(ports).toEqual([{ name: args[0] === 'serve' ? 'http' : 'health', containerPort: port }])
      for (const [probe, path] of Object.entries({ startupProbe: '/readyz', readinessProbe: '/readyz', livenessProbe: '/healthz' }))
        expect(container, probe).toMatchObject({ [probe]: { httpGet: { path, port: ports[0]?.name } } })
      if (args[0] === 'serve') expect(DOCKERFILE).toContain(`EXPOSE ${port}\n`)
    }
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Service'))
      expect(spec.ports?.map(({ targetPort }) => targetPort)).toEqual(['http'])
  })

  test('the daemon understands its variables and arguments, and its volume is that of the image', () => {
    const cli = read('docs/cli.md')
    for (const { args, env, volumeMounts } of containers) {
      expect(() =>
        readEnvironment(Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'a-secret-of-24-characters']))),
      ).not.toThrow()
      for (const flag of args.filter((arg) => arg.startsWith('--')))
        expect(cli).toMatch(new RegExp(`^\\| \`(?:-\\w, )?${flag.split('=')[0]} `, 'm'))
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(args[0] === 'serve' ? [VOLUME, '/tmp'] : ['/tmp'])
    }
  })

  test('the guide creates each secret that is asked for', () => {
    const wanted = new Set(
      containers
        .flatMap(({ env }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []))
        .map(({ name, key }) => `${name} ${key}`),
    )
    const [, command = ''] =
      new RegExp(`^(kubectl create secret (?:(?!\\n\`\`\`)[^])*?)\\nkubectl apply -k deploy/kubernetes/${variant}$`, 'm').exec(GUIDE) ?? []
    const [, name] = /secret generic (\S+)/.exec(command) ?? []
    expect([...command.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => `${name} ${key}`).toSorted()).toEqual([...wanted].toSorted())
  })
})

test('a file has one Pod, by its replicas and by its volume', () => {
  const [{ manifest }] = workloadsOf('file') as [ReturnType<typeof workloadsOf>[number]]
  expect(manifest).toMatchObject({ kind: 'StatefulSet', spec: { replicas: 1 } })
  expect(manifest.spec.volumeClaimTemplates?.map(({ spec }) => spec.accessModes)).toEqual([['ReadWriteOncePod']])
  // A budget that wants the only Pod to stay would keep its node from being drained.
  expect(manifestsOf('file').find(({ kind }) => kind === 'PodDisruptionBudget')?.spec).toMatchObject({ maxUnavailable: 1 })
})

test('on Postgres there is always another daemon, and the autoscaler alone counts the workers', () => {
  const manifests = manifestsOf('postgres')
  const named = (name: string) => manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
  expect(named('millrace')?.spec.replicas).toBe(2)
  const scaled = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler')?.spec.scaleTargetRef
  expect(named(scaled?.name as string)?.spec).not.toHaveProperty('replicas')
})

const matches = (labels: Record<string, string>, wanted: Record<string, string>) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)
const flagOf = (args: readonly string[], name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1]
