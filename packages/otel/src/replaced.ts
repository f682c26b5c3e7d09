/** The same object, but for some of its methods: those that it has itself. */
export function replaced<Whole extends object>(whole: Whole, by: Readonly<Record<string, unknown>>): Whole {
  return new Proxy(whole, {
    get: (_whole, key) => {
      const own: unknown = Reflect.get(whole, key)
      if (own !== undefined && typeof key === 'string' && Object.hasOwn(by, key)) return by[key]
      // What has private fields knows itself alone.
      return typeof own === 'function' ? own.bind(whole) : own
    },
  })
}
