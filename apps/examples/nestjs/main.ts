/** Millrace in NestJS: compile this folder, then run dist/main.js. POST { "to": … } to /mails; Ctrl-C stops it. */
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.ts'

const app = await NestFactory.create(AppModule)
app.enableShutdownHooks()
await app.listen(process.env['PORT'] ?? 3000, '127.0.0.1')
console.log(`listening on ${await app.getUrl()}`)
