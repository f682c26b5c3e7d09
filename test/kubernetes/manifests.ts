/** The manifests of deploy/kubernetes, parsed. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const VARIANTS = ['file', 'postgres'] as const
export type Variant = (typeof VARIANTS)[number]

export interface Container {
  readonly name: string
  readonly image: string
  readonly args: readonly string[]
  readonly env: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext: object
  readonly resources: object
  readonly [probe: `${string}Probe`]: {
    readonly httpGet: { readonly path: string; readonly port: string }
    readonly periodSeconds: number
    readonly failureThreshold?: number
  }
}

export interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number }
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[]
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly replicas?: number
    readonly selector: Record<string, string> & { readonly matchLabels?: Record<string, string> }
    readonly template?: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: Pod }
    readonly ports?: readonly { readonly targetPort: string }[]
    readonly volumeClaimTemplates?: readonly {
      readonly metadata: { readonly name: string }
      readonly spec: { readonly accessModes: readonly string[] }
    }[]
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string }
    readonly minAvailable?: number
    readonly maxUnavailable?: number
  }
}

export interface Kustomization {
  readonly resources: readonly string[]
  readonly images: readonly { readonly name: string; readonly newTag: string }[]
}

export const folderOf = (variant: Variant): string => `${ROOT}deploy/kubernetes/${variant}`

/** Every document of a file. @throws Error for YAML with an error or a warning, such as a key that is there twice */
export function parse<Document>(path: string): Document[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw new Error(`${path}: ${problem.message}`)
    return document.toJS() as Document
  })
}

export const kustomizationOf = (variant: Variant): Kustomization =>
  parse<Kustomization>(`${folderOf(variant)}/kustomization.yaml`)[0] as Kustomization

export function manifestsOf(variant: Variant): Manifest[] {
  const files = readdirSync(folderOf(variant)).filter((name) => name !== 'kustomization.yaml')
  return files.flatMap((name) => parse<Manifest>(`${folderOf(variant)}/${name}`))
}

export interface Workload {
  readonly manifest: Manifest
  readonly labels: Record<string, string>
  readonly pod: Pod
}

export const workloadsOf = (variant: Variant): Workload[] =>
  manifestsOf(variant).flatMap((manifest) => {
    const { template } = manifest.spec
    return template === undefined ? [] : [{ manifest, labels: template.metadata.labels, pod: template.spec }]
  })
