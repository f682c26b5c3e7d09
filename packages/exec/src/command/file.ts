/** Checks the paths of a configuration when the worker starts. */
import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { describe, OptionRangeError, OptionTypeError, withoutUrl } from '@millrace/core'
import { ARGUMENT_BYTES } from './bounds.ts'

/** Returns the path of a program that can be started. */
export function fileOption(option: string, value: unknown): string {
  const path = pathOption(option, value)
  if (/\.(?:bat|cmd)$/i.test(path)) {
    const message = `${option} ${describe(path)} is a batch file: cmd.exe reads its arguments as a script; name the program itself`
    throw new OptionTypeError(option, message)
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new OptionTypeError(option, `${option} ${describe(path)} does not exist: install it, or correct the path`)
  if (!found.isFile()) throw new OptionTypeError(option, `${option} ${describe(path)} is not a file: name a program`)
  try {
    accessSync(path, constants.X_OK)
  } catch {
    throw new OptionTypeError(option, `${option} ${describe(path)} may not be executed by this worker: chmod +x it`)
  }
  return path
}

export function folderOption(option: string, value: unknown): string {
  const path = pathOption(option, value)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new OptionTypeError(option, `${option} ${describe(path)} is not a folder: create it, or correct the path`)
}

export function pathOption(option: string, given: unknown): string {
  const value = withoutUrl(option, given)
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be an absolute path, got ${describe(value)}`)
  if (value.includes('\0')) throw new OptionTypeError(option, `${option} has a NUL character, which no path can have`)
  if (!isAbsolute(value)) {
    throw new OptionTypeError(option, `${option} must be an absolute path, got ${describe(value)}: neither PATH nor a folder is searched`)
  }
  return value
}

const PLACEHOLDER = /\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}/

/** Returns the source of a script, which never contains data. */
export function scriptOption(option: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new OptionTypeError(option, `${option} must be the text of a script if shell is true, got ${describe(value)}`)
  }
  if (value.includes('\0')) throw new OptionTypeError(option, `${option} has a NUL character, which no script can have`)
  if (Buffer.byteLength(value) > ARGUMENT_BYTES) {
    throw new OptionRangeError(option, ARGUMENT_BYTES, `${option} must have at most ${ARGUMENT_BYTES} bytes: put the script into a file`)
  }
  const [found] = PLACEHOLDER.exec(value) ?? []
  if (found === undefined) return value
  throw new OptionTypeError(
    option,
    `${option} is no template, and has ${found}: say "$JOB_DATA_..." there, or put ${found} into args and say "$1", so that data is never read as a script`,
  )
}
