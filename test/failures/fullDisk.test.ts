// A disk that is full in truth: a small tmpfs, in a mount namespace of its own.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const MOUNT = 'mount -t tmpfs -o size=64m tmpfs "$0" && exec "$@"'

/** The command that gives a program a small disk of its own, where this system has one to give. */
function smallDisk(folder: string): readonly string[] | undefined {
  return [
    ['unshare', '-m'],
    ['unshare', '-Urm'],
  ]
    .map((unshare) => [...unshare, 'sh', '-c', MOUNT, folder])
    .find(([command, ...args]) => spawnSync(command as string, [...args, 'true']).status === 0)
}

const programUrl = (name: string) => new URL(`./programs/${name}.ts`, import.meta.url)

test('32: a full disk refuses new work, running jobs go on, and service resumes without a restart', async ({ skip }) => {
  const folder = temporaryFolder()
  const within = smallDisk(folder)
  if (within === undefined) skip('no small disk: neither `unshare -m` nor `unshare -Urm` may mount a tmpfs here')
  const program = startProgram(programUrl('fullDisk'), [folder], within)
  const { code, stderr } = await program.ended
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^millrace warning: the disk is full: new jobs are refused, running jobs continue\. .* are free \{/),
    'millrace warning: new jobs are accepted again',
  ])
  expect({ said: program.lines }).toEqual({
    said: [
      'ballast before true',
      'refusals ["DISK_FULL"]',
      'ballast while full false',
      'draining true',
      'result "done"',
      'checkpoint {"page":2}',
      'started "ran"',
      'still refused "DISK_FULL"',
      'what to do "the disk is full: new jobs are refused, running jobs continue. Free some space: service resumes automatically when 32 MiB (33554432 bytes) are free"',
      'bytes that must be free 33554432',
      'draining after false',
      'ballast after true',
      'reopened true',
      'problems []',
      'jobs 0',
    ],
  })
  expect(code).toBe(0)
})

test('32: on a full disk a file is opened with the room of its ballast; a new one is refused with DiskFullError', async ({ skip }) => {
  const folder = temporaryFolder()
  const within = smallDisk(folder)
  if (within === undefined) skip('no small disk: neither `unshare -m` nor `unshare -Urm` may mount a tmpfs here')
  const program = startProgram(programUrl('openFull'), [folder], within)
  const { code, stderr } = await program.ended
  expect({ stderr, said: program.lines }).toEqual({
    stderr: '',
    said: [
      `a new file "DISK_FULL: cannot open ${folder}/new.db: the disk is full. Free some space there, and open it again"`,
      'a log is left of it false',
      'the old file has its ballast false',
      'its job "ran"',
      'with room it has its ballast true',
    ],
  })
  expect(code).toBe(0)
})
