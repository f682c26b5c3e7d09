// Vite turns imports of style sheets into one file, which index.html names.
declare module '*.css' {}
