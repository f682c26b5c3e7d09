/** Compiles programs that Node cannot run by stripping their types: those with the decorators of NestJS. */
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { temporaryFolder } from '../temporary.ts'

const EXAMPLES = fileURLToPath(new URL('../../apps/examples', import.meta.url))
const TSC = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc')

/** Compiles an example of apps/examples, and returns the folder of its programs. */
export function compiled(example: string): URL {
  const folder = moduleFolder()
  tsc('-p', join(EXAMPLES, example), '--outDir', folder)
  return pathToFileURL(`${folder}/`)
}

/** Checks the types of a module that has what the examples have. Throws what the compiler prints. */
export function checkTypes(code: string): void {
  const folder = moduleFolder()
  writeFileSync(join(folder, 'module.ts'), code)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(EXAMPLES, 'nestjs/tsconfig.json'),
      compilerOptions: { noEmit: true, rootDir: '/', typeRoots: [join(EXAMPLES, '../../node_modules/@types')] },
      include: ['module.ts'],
    }),
  )
  tsc('-p', folder)
}

/** Returns a folder of ES modules that have what the examples have. */
function moduleFolder(): string {
  const folder = temporaryFolder()
  symlinkSync(join(EXAMPLES, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return folder
}

function tsc(...args: readonly string[]): void {
  try {
    execFileSync(process.execPath, [TSC, ...args], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    throw new Error(String((error as { stdout?: unknown }).stdout))
  }
}
