import assert from 'node:assert/strict';
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { alpnCertificate } from './alpn-certificate.ts';

test('the certificate of tls-alpn-01 is for the name alone and holds the digest in a critical extension', async () => {
  const name = `${'long'.repeat(15)}.shop.example.test`;
  const keyAuthorization = 'token.thumbprint';
  const { cert, key } = await alpnCertificate({ name, keyAuthorization });
  const parsed = new X509Certificate(cert);
  assert.equal(parsed.subjectAltName, `DNS:${name}`);
  assert.ok(parsed.checkPrivateKey(createPrivateKey(key)));
  assert.ok(parsed.verify(parsed.publicKey));
  // id-pe-acmeIdentifier, TRUE, and an octet string in the octet string of every extension.
  const digest = createHash('sha256').update(keyAuthorization).digest('hex');
  assert.ok(parsed.raw.toString('hex').includes(`06082b0601050507011f0101ff04220420${digest}`));
});

test('each certificate of tls-alpn-01 has a key of its own', async () => {
  const answer = { name: 'a.test', keyAuthorization: 'a.b' };
  assert.notEqual((await alpnCertificate(answer)).key, (await alpnCertificate(answer)).key);
});
