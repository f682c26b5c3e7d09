/** How systemd is told: by a real systemd-notify, to a real datagram socket. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { startDaemon, startDaemonHere } from './daemon.ts'

const LISTENER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(' '.join(s.recv(4096).decode().split('\\n')), flush=True)
`

function there(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('READY when it serves, WATCHDOG while it does and while it drains, STOPPING before it closes', async ({ skip }) => {
  if (!there('systemd-notify') || !there('python3')) skip('this machine has no systemd-notify, or no Python to listen with')
  const folder = temporaryFolder()
  const socket = join(folder, 'notify')
  const systemd = startProgram(new URL('data:,'), ['-c', LISTENER, socket], ['sh', '-c', 'shift 2; exec python3 "$@"', 'sh'])
  await systemd.said(/^bound$/)
  const daemon = startDaemon(folder, {
    flags: { 'http-dashboard-enabled': 'false' },
    env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' },
  })
  await systemd.said(/^READY=1 STATUS=serving .*millrace\.db/)
  await systemd.said(/^WATCHDOG=1/)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  const told = systemd.lines.map((line) => line.split(' ')[0]).filter((state) => state !== 'WATCHDOG=1' && state?.includes('='))
  expect(told.filter((state) => !state?.startsWith('BARRIER'))).toEqual(['READY=1', 'STOPPING=1'])
})

test('without systemd nothing is told, and without systemd-notify the daemon says so once', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemonHere(folder, { env: { NOTIFY_SOCKET: join(folder, 'nobody'), PATH: folder, WATCHDOG_USEC: '200000' } })
  await daemon.serving
  daemon.signal('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
  expect(daemon.lines.filter((line) => line.includes('is systemd-notify installed?'))).toHaveLength(1)
})
