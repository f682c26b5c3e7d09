// What `import` of a package takes in a process that has loaded nothing yet.
const before = performance.now()
await import(process.argv[2])
console.log(JSON.stringify({ import: performance.now() - before }))
