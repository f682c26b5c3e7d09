/** How the search weighs what it finds. The test of new users' questions searches with the same options. */

/** Options of MiniSearch. */
export const SEARCH = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
} as const
