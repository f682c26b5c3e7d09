import { linkSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findings, runDemo } from './demoProcess.ts'
import { createWorkplace } from './workplace.ts'

test('reports exactly what is there, and leaves nothing behind', async () => {
  const { folder, cwd, write } = createWorkplace()
  const large = new Uint8Array(3_000_000).fill(7)
  write('large.bin', large)
  write('deep/er/large again.bin', large)
  for (const name of ['a.txt', 'b/a.txt', 'b/c.txt', 'd.txt']) write(name, 'x'.repeat(500))
  linkSync(write('one.txt', 'one inode, two names'), join(folder, 'two.txt'))
  write('empty 1', '')
  write('empty 2', '')
  write('unique', 'nothing like it')
  mkdirSync(join(folder, 'hollow'))
  symlinkSync('large.bin', join(folder, 'link'))
  symlinkSync('deep', join(folder, 'link to a folder'))

  const { code, stdout, stderr } = await runDemo([folder], cwd)

  expect(stderr).toMatch(/^Looking for duplicates in /)
  expect(stderr).toMatch(/The run is complete and its queue file removed/)
  expect(code).toBe(0)
  expect(findings(stdout)).toBe(`${folder}
  11 files, 6.0 MB, in 5 folders
  skipped: 2 symbolic links

2 files with copies: 3.0 MB (3,001,500 bytes) could be saved:
    3.0 MB  2 × 3.0 MB
              deep/er/large again.bin
              large.bin
    1.5 kB  4 × 500 bytes
              a.txt
              b/a.txt
              b/c.txt
              and 1 more

Nothing failed
`)
  expect(stdout).toMatch(/Slowest files:\n( +[\d.]+ ms +\S+ \w+ {2}.+\n){5}\n16 jobs in [\d.]+ s, [\d,]+ jobs per second\n$/)
  expect(readdirSync(join(cwd, '.millrace'))).toEqual([])
})

test('looks through the folder that its own queue lies in', async () => {
  const { folder, write } = createWorkplace()
  write('a', 'same')
  write('b', 'same')
  const { code, stdout } = await runDemo(['.'], folder)
  expect(code).toBe(0)
  expect(findings(stdout)).toContain('2 files, 8 bytes, in 2 folders')
})

test('a finished run starts from scratch', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('a', 'first')
  await runDemo([folder, '--file', 'my.db'], cwd)
  write('b', 'second')
  const { stdout, stderr } = await runDemo([folder, '--file', 'my.db'], cwd)
  expect(stderr).toMatch(/^Looking for duplicates in /)
  expect(stdout).toContain('2 files, 11 bytes, in 1 folder\n')
})

test('splits a folder of more than 10,000 files', async () => {
  const { folder, cwd, write } = createWorkplace()
  for (let index = 0; index < 10_050; index++) write(`f${index}`, String(index % 10_000))
  const { stdout } = await runDemo([folder], cwd)
  expect(stdout).toContain('10,050 files, 39.0 kB, in 1 folder\n')
  expect(stdout).toContain('50 files with copies: 90 bytes could be saved')
})
