/** A module without a handler. */
export const handler = 'not a function'
