// What people copy serves this machine alone, or names the address at which others reach it: Node listens everywhere by default.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathOf, ROOT, walk } from './sources.ts'

const FILES = ['README.md', 'docs', 'apps/examples', 'apps/create-millrace/templates', 'packages', 'deploy']
  .flatMap((place) => (place.endsWith('.md') ? [join(ROOT, place)] : walk(join(ROOT, place))))
  .map((file) => ({ file, path: pathOf(file) }))
  .filter(
    ({ path }) =>
      /\.md$/.test(path) || (/\.tsx?$|\/package\.json$/.test(path) && /^apps\/(?:examples|create-millrace\/templates)\//.test(path)),
  )
  .filter(({ path }) => !/CHANGELOG|docs\/decisions/.test(path))

/** Calls that open a port: of a server of Node, Express or Fastify, of @hono/node-server, and of the command of Next. */
const CALLS = /[\w)]\.listen\([^\n]*|\bserve\(\{[^\n]*|"[^"\n]*\bnext (?:dev|start)\b[^"\n]*"/g
const ADDRESS = /127\.0\.0\.1|0\.0\.0\.0|\bHOST\b|unix:|socket/i

test('every server in docs, examples and templates names its address', () => {
  const calls = FILES.flatMap(({ file, path }) => (readFileSync(file, 'utf8').match(CALLS) ?? []).map((call) => ({ path, call })))
  expect(calls.length).toBeGreaterThan(10)
  expect(calls.filter(({ call }) => !ADDRESS.test(call))).toEqual([])
})
