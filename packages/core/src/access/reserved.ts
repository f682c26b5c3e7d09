/**
 * Idempotency keys of Millrace itself. Everybody who enqueues jobs of a name shares their keys, so a producer that knows a key can take it
 * first. Only the scope `admin` may set these, so their jobs are known to come from an owner of the installation.
 */

/** Begins the idempotency keys that only the scope `admin` may set. */
export const RESERVED_KEYS = 'millrace:'

/** Returns why the key may not be set without the scope `admin`; undefined for all other keys. */
export function reservedKey(key: string | null | undefined): string | undefined {
  if (key?.startsWith(RESERVED_KEYS) !== true) return undefined
  return `idempotency keys that begin with '${RESERVED_KEYS}' are those of Millrace itself, and need the scope 'admin', got '${key}': choose another key`
}
