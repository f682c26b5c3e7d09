import { router, sessions } from '../page.ts'

export async function logOut(): Promise<void> {
  await sessions.logOut()
  router.load('/login')
}
