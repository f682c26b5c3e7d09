/** Returns the same object with some of its methods replaced, if it has them itself. */
export function replaced<Whole extends object>(whole: Whole, by: Readonly<Record<string, unknown>>): Whole {
  return new Proxy(whole, {
    get: (_whole, key) => {
      const own: unknown = Reflect.get(whole, key)
      if (own !== undefined && typeof key === 'string' && Object.hasOwn(by, key)) return by[key]
      // Private fields work only with the object itself as `this`.
      return typeof own === 'function' ? own.bind(whole) : own
    },
  })
}
