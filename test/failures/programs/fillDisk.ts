/** Takes all the room that is left, to the last byte. */
import { closeSync, openSync, writeSync } from 'node:fs'

export function fillDisk(filler: string): void {
  const descriptor = openSync(filler, 'w')
  for (let bytes = 2 ** 20; bytes >= 1; ) {
    try {
      writeSync(descriptor, new Uint8Array(bytes).fill(1))
    } catch {
      bytes >>= 1
    }
  }
  closeSync(descriptor)
}
