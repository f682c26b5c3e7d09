/**
 * Blanks values in the beginning of a JSON text, whose end is cut anywhere. The way to each value that has begun is known, so nothing else
 * has to be hidden, and nothing has to be read beyond the cut.
 */

/** The keys on the way to a value. `*` is any key, and any item of an array. */
export type Path = readonly string[]

export const ANY = '*'
export const BLANK = '[redacted]'

interface Container {
  readonly isArray: boolean
  /** The number of its items so far. */
  items: number
  /** The paths that lead on from it. */
  readonly paths: readonly Path[]
}

type Wanted = 'value' | 'item or end' | 'key or end' | 'key' | 'colon' | 'comma or end' | 'nothing'

const SPACE = /[\t\n\r ]*/y
const TOKEN = /([{}[\],:])|("(?:[^"\\\p{Cc}]|\\.)*")|(?:-?\d[\d.eE+-]*|true|false|null)/uy
/** A token whose end is cut. */
const CUT = /(?:"(?:[^"\\]|\\[\s\S])*\\?|-|tr?u?|fa?l?s?|nu?l?)?$/y

/** Returns the text with its blanks, and whether there are some; undefined if it is not the beginning of JSON. */
export function blankedStart(text: string, paths: readonly Path[]): { readonly shown: string; readonly hides: boolean } | undefined {
  const reading = new Reading(text, paths)
  while (reading.token());
  return reading.end()
}

class Reading {
  readonly #text: string
  readonly #open: Container[] = []
  #wanted: Wanted = 'value'
  /** The paths to the next value. */
  #paths: readonly Path[]
  #at = 0
  /** The beginning of a value that is hidden, and the number of containers around it. */
  #hidden: { readonly from: number; readonly depth: number } | undefined
  #shown = ''
  #shownTo = 0
  #isWrong = false

  constructor(text: string, paths: readonly Path[]) {
    this.#text = text
    this.#paths = paths
  }

  /** Takes the next token. Returns false if there is none, or if it must not be there. */
  token(): boolean {
    this.#at += matchAt(SPACE, this.#text, this.#at)?.[0].length ?? 0
    this.#hide()
    const token = matchAt(TOKEN, this.#text, this.#at)
    if (token === null) return false
    this.#at += token[0].length
    const [, mark, string] = token
    this.#isWrong = !this.#take(mark, string)
    return !this.#isWrong
  }

  end(): { readonly shown: string; readonly hides: boolean } | undefined {
    const { length } = this.#text
    if (this.#isWrong || this.#text.trim() === '' || matchAt(CUT, this.#text, this.#at) === null) return undefined
    // After a whole value there is nothing but space, and no word is a key.
    if (this.#wanted === 'nothing' && this.#at < length) return undefined
    if (this.#hidden !== undefined) this.#blank(length)
    return { shown: this.#shown + this.#text.slice(this.#shownTo), hides: this.#shownTo > 0 }
  }

  /** Notes the beginning of a value that is hidden. */
  #hide(): void {
    // At the end of the text, the array may be empty.
    const isItem = this.#wanted === 'item or end' && this.#at < this.#text.length && this.#text[this.#at] !== ']'
    if (this.#hidden !== undefined || !(this.#wanted === 'value' || isItem)) return
    if (this.#paths.some(({ length }) => length === 0)) this.#hidden = { from: this.#at, depth: this.#open.length }
  }

  #take(mark: string | undefined, string: string | undefined): boolean {
    const wanted = this.#wanted
    const around = this.#open.at(-1)
    if (mark === '}' || mark === ']') {
      const mayEnd = wanted === 'comma or end' || wanted === (mark === ']' ? 'item or end' : 'key or end')
      return mayEnd && around?.isArray === (mark === ']') && this.#close()
    }
    switch (wanted) {
      case 'value':
      case 'item or end':
        if (mark === undefined) return this.#ended()
        return (mark === '{' || mark === '[') && this.#begin(mark === '[')
      case 'key or end':
      case 'key':
        return string !== undefined && this.#key(string)
      case 'colon':
        this.#wanted = 'value'
        return mark === ':'
      case 'comma or end':
        return mark === ',' && around !== undefined && this.#next(around)
      case 'nothing':
        return false
    }
  }

  #begin(isArray: boolean): true {
    this.#open.push({ isArray, items: 0, paths: this.#paths })
    this.#wanted = isArray ? 'item or end' : 'key or end'
    if (isArray) this.#lead('0')
    return true
  }

  #key(string: string): boolean {
    try {
      this.#lead(JSON.parse(string))
    } catch {
      return false
    }
    this.#wanted = 'colon'
    return true
  }

  #next(around: Container): true {
    around.items++
    this.#wanted = around.isArray ? 'value' : 'key'
    if (around.isArray) this.#lead(`${around.items}`)
    return true
  }

  #close(): true {
    this.#open.pop()
    return this.#ended()
  }

  #ended(): true {
    if (this.#hidden?.depth === this.#open.length) this.#blank(this.#at)
    this.#wanted = this.#open.length === 0 ? 'nothing' : 'comma or end'
    return true
  }

  /** Follows the paths of the innermost container to a value in it. */
  #lead(key: string): void {
    const paths = this.#hidden === undefined ? (this.#open.at(-1)?.paths ?? []) : []
    this.#paths = paths.filter(([first]) => first === ANY || first === key).map((path) => path.slice(1))
  }

  #blank(to: number): void {
    this.#shown += this.#text.slice(this.#shownTo, this.#hidden?.from) + JSON.stringify(BLANK)
    this.#shownTo = to
    this.#hidden = undefined
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
