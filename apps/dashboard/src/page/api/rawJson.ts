/** A body that is JSON already: its numbers are sent as they were typed. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
