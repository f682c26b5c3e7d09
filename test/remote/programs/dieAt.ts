/** Ends this process by kill -9 at a chosen step of its journal, the so-manieth time that it comes there. */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'

export const STEPS = ['write', 'half', 'sync', 'synced', 'answer', 'halfNote', 'syncNote', 'noted'] as const
export type Step = (typeof STEPS)[number]

type Write = (bytes: Uint8Array, offset: number, length: number, at: number) => Promise<{ bytesWritten: number; buffer: Uint8Array }>

export function dieAt(chosen: Step, count: number): void {
  let left = count
  const isNow = (step: Step) => step === chosen && --left === 0
  const die = () => process.kill(process.pid, 'SIGKILL')
  const { open } = fs

  const watchLog = (handle: fs.FileHandle) => {
    const write = handle.write.bind(handle) as Write
    const { datasync } = handle
    Object.assign(handle, {
      write: async (...[bytes, offset, length, at]: Parameters<Write>) => {
        if (isNow('write')) die()
        if (isNow('half')) {
          await write(bytes, offset, length >> 1, at)
          die()
        }
        return write(bytes, offset, length, at)
      },
      datasync: async () => {
        if (isNow('sync')) die()
        await datasync.call(handle)
        if (isNow('synced')) die()
      },
    })
  }

  const watchRefusals = (handle: fs.FileHandle) => {
    const { appendFile, datasync } = handle
    Object.assign(handle, {
      appendFile: async (line: string) => {
        if (isNow('halfNote')) {
          await appendFile.call(handle, line.slice(0, line.length >> 1))
          die()
        }
        await appendFile.call(handle, line)
      },
      datasync: async () => {
        if (isNow('syncNote')) die()
        await datasync.call(handle)
        if (isNow('noted')) die()
      },
    })
  }

  fs.open = async (path, flags, mode) => {
    const handle = await open(path, flags, mode)
    if (flags === 'wx+') watchLog(handle)
    else if (flags === 'a+') watchRefusals(handle)
    return handle
  }
  syncBuiltinESMExports()

  // The engine has done what was asked, and nobody here has heard of it.
  const { push } = Socket.prototype
  Socket.prototype.push = function (this: Socket, ...args) {
    if (args[0] !== null && isNow('answer')) die()
    return push.apply(this, args)
  }
}
