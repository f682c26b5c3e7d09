/** The weights of the search. The test of a new user's questions searches with the same options. */

/** Options of MiniSearch. The site gets the functions as text, so they use nothing from outside. */
export const SEARCH = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  /**
   * Somebody who looks for a word wants to use it before they want to know why it is so, or what it is called elsewhere. The top of a page
   * about another queue has its name, and is what people look for by that name. A page of reference has the words of all others.
   */
  boostDocument: (id: string): number => {
    if (/^\/(?:decisions\/|history\/|migrate\/.*#(?!migrate-from-))/.test(id)) return 0.2
    return id.startsWith('/reference/') ? 0.9 : 1
  },
}
