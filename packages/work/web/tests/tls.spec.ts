import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { httpFetch } from '../src/http/fetch.ts'
import { failureOf } from './host.ts'

// Made for this test, for the name site.test, and vouched for by nobody.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7HSEnP8UcBQUxidw
ySZOSedwYcQcOn+dUH29+UIu+n2hRANCAATR70R//DrSOUL/mW4jQbSVq048pTf6
dYBqOwWEKo5aLZoqwIY8pCVKP7TprvbgkYeYTnnIhJPJDIgA2j6nuzaH
-----END PRIVATE KEY-----`
const cert = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUMTftHAgxT7hyazNHaOUYaoFPSwIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2l0ZS50ZXN0MCAXDTI2MTEzMDIzMzQ0OVoYDzIxMjYxMTA2
MjMzNDQ5WjAUMRIwEAYDVQQDDAlzaXRlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATR70R//DrSOUL/mW4jQbSVq048pTf6dYBqOwWEKo5aLZoqwIY8pCVK
P7TprvbgkYeYTnnIhJPJDIgA2j6nuzaHo2kwZzAdBgNVHQ4EFgQUvYWtjIXiJYTk
pqfmqaAcqnzSG/MwHwYDVR0jBBgwFoAUvYWtjIXiJYTkpqfmqaAcqnzSG/MwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglzaXRlLnRlc3QwCgYIKoZIzj0EAwID
SAAwRQIgELns2xryNKClxdOX84Q/wKojsCHihULepXQzZl7VjlICIQDIBXamELXy
k7hzwcI8unP/uwAQIJak6Ge33tw1tMNQfA==
-----END CERTIFICATE-----`

it('a certificate that nobody vouches for is refused, and the request is not sent', async () => {
  const requests: string[] = []
  const names: string[] = []
  const server = createServer({ key, cert, SNICallback: (name, done) => (names.push(name), done(null)) }, (request, response) => {
    requests.push(String(request.url))
    response.end('secret')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `https://site.test:${(server.address() as AddressInfo).port}/`
  const failure = await failureOf(httpFetch({ allowPrivateNetwork: true, lookup: async () => ['127.0.0.1'] }).fetch({ url }))
  expect(failure.code).toBe('WEB_PROVIDER_ERROR')
  expect(failure.message).toMatch(/could not be fetched: .*certificate/i)
  expect([names, requests]).toEqual([['site.test'], []])
})
