/** Keys that would reach into what all objects share. No map that is read from outside has them. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
