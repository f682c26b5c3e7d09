/** The versions of the protocol that this package speaks. */
import { WireError } from './errors.ts'

export const VERSIONS: readonly [1, 1] = [1, 1]

/**
 * The highest version that both ends speak.
 *
 * @throws WireError VERSION_MISMATCH
 */
export function chooseVersion([min, max]: readonly [min: number, max: number]): number {
  const version = Math.min(max, VERSIONS[1])
  if (min > max || version < min || version < VERSIONS[0]) {
    const message = `the client speaks protocol versions ${min} to ${max}, the server ${VERSIONS[0]} to ${VERSIONS[1]}: bring the older of the two up to date`
    throw new WireError('VERSION_MISMATCH', message)
  }
  return version
}
