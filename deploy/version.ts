/** Sets the tag of the image in the manifests to the version of the daemon. A part of `pnpm run version`. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'

const ROOT = new URL('../', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('apps/millrace/package.json', ROOT), 'utf8')) as { readonly version: string }

for (const path of globSync('deploy/kubernetes/*/kustomization.yaml', { cwd: ROOT })) {
  const file = new URL(path.replaceAll('\\', '/'), ROOT)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/(- name: millrace\n.*\n {4}newTag: ).*/, `$1${version}`))
}
