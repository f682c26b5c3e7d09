/** Exports for the other packages of this workspace. Names can change in any release. */

export { connectPort, type Whereabouts } from './client/connect.ts'
export type { RemotePort } from './client/remotePort.ts'
export type { Surroundings } from './clock.ts'
export { listen } from './server/listen.ts'
export { LIBRARY, PROTOCOL } from './version.ts'
