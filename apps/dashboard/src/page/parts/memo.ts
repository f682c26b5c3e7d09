/** Draws a component again only if one of its properties is another one: rows that did not change keep their old objects. */
import { Component, type ComponentChildren, h } from 'preact'

export function memo<Props extends object>(View: (props: Props) => ComponentChildren) {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const names = Object.keys(next) as (keyof Props)[]
      return names.some((name) => !Object.is(next[name], (this.props as Props)[name]))
    }

    override render(props: Props): ComponentChildren {
      return h(View as never, props as never)
    }
  }
}
