/** The versions of the protocol that this package speaks, and the choice of the one that two ends speak with each other. */
import { WireError } from './errors.ts'

/** The lowest and the highest version. */
export type VersionRange = readonly [min: number, max: number]

export const VERSIONS = [1, 1] as const satisfies VersionRange

/**
 * Returns the highest version that both ends speak.
 *
 * @throws WireError VERSION_MISMATCH
 */
export function chooseVersion([min, max]: VersionRange, [serverMin, serverMax]: VersionRange = VERSIONS): number {
  const version = Math.min(max, serverMax)
  if (min > max || version < min || version < serverMin) {
    const message = `the client speaks protocol versions ${min} to ${max}, the server ${serverMin} to ${serverMax}: bring the older of the two up to date`
    throw new WireError('VERSION_MISMATCH', message)
  }
  return version
}
