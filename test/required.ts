/** Reads a variable that turns a missing program into a failure, in place of skipped tests. */

/** @throws RangeError if the variable has another value than `required` */
export function isRequired(
  variable: 'TEST_BROWSER' | 'TEST_IMAGE' | 'TEST_POSTGRES' | 'TEST_REDIS',
  value: string | undefined = process.env[variable],
): boolean {
  if (value === undefined || value === '' || value === 'required') return value === 'required'
  throw new RangeError(`${variable} must be required or unset, got ${value}`)
}
