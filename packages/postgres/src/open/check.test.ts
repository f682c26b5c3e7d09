import { expect, test } from 'vitest'
import { refusedBy } from './check.ts'

test.each([
  ['28P01', 'password authentication failed for user "queue"', /check user and password in the URL/],
  [
    '28000',
    'no pg_hba.conf entry for host "10.0.0.9", user "queue", database "app", no encryption',
    /: add sslmode=verify-full to the URL/,
  ],
  ['28000', 'no pg_hba.conf entry for host "10.0.0.9", user "queue", database "app", SSL encryption', /check user and password in the URL/],
  ['25006', 'cannot execute INSERT in a read-only transaction', /primary server, with a user whose default_transaction_read_only is off/],
])('a refusal with %s says what to do: %s', (code, message, remedy) => {
  expect(refusedBy({ code, message, constraint: undefined })).toMatchObject({
    code: 'NOT_WRITABLE',
    message: expect.stringMatching(remedy),
  })
})
