/** When to renew, as an authority suggests it (RFC 9773), and the certificate that is replaced. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { sendProblem } from '../../../../test/harness/played-authority.ts';
import { failureOf, NAME, start, withJson } from './testing.ts';

// RFC 9773, appendix A.
const RFC_ID = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE';
const WINDOW = { start: '2030-01-02T00:00:00Z', end: '2030-01-04T00:00:00Z' };

test('the time of renewal is somewhere in the window that the authority suggests, and always there', async (t) => {
  const { authority, played } = await start(t);
  played.plays.set('/ari/*', withJson({ suggestedWindow: WINDOW }));
  const { cert } = await played.ca.issue({ names: [NAME], serial: '87654321' });
  const at = await authority.renewalTime(`${cert}${played.ca.root}`, t.signal);
  assert.equal(played.asked.at(-1)?.path, `/ari/${RFC_ID}`);
  assert.ok(at !== null && at >= Date.parse(WINDOW.start) && at < Date.parse(WINDOW.end), `${at}`);
  assert.equal(await authority.renewalTime(cert, t.signal), at);
  const other = await played.ca.issue({ names: [NAME], serial: '01' });
  assert.notEqual(await authority.renewalTime(other.cert, t.signal), at);
  assert.match(played.asked.at(-1)?.path ?? '', /\.AQ$/);
});

test('an authority that says nothing about a certificate says null', async (t) => {
  const { authority, played } = await start(t);
  const { cert } = await played.ca.issue({ names: [NAME] });
  played.plays.set('/ari/*', (_, response) => void response.writeHead(404).end());
  assert.equal(await authority.renewalTime(cert, t.signal), null);
  assert.equal(await authority.renewalTime('no certificate', t.signal), null);
  played.plays.set('/dir', withJson({ newNonce: '', newAccount: '', newOrder: '' }));
  assert.equal(await authority.renewalTime(cert, t.signal), null);
});

const NO_WINDOWS = [{}, { suggestedWindow: {} }, { suggestedWindow: { start: WINDOW.end, end: WINDOW.start } }];

test('renewal information without a window is no answer', async (t) => {
  const { authority, played } = await start(t);
  const { cert } = await played.ca.issue({ names: [NAME] });
  for (const answer of NO_WINDOWS) {
    played.plays.set('/ari/*', withJson(answer));
    assert.equal((await failureOf(authority.renewalTime(cert, t.signal))).code, 'bad_answer');
  }
});

test('a certificate comes with its time of renewal, and without where that is no use', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  played.plays.set('/ari/*', withJson({ suggestedWindow: WINDOW }));
  const issued = await authority.issue(account, ordered());
  assert.equal(issued.renewAt, await authority.renewalTime(issued.chain, t.signal));
  assert.equal(issued.notAfter, new X509Certificate(issued.chain).validToDate.getTime());
  // At once, for ever: not a usable suggestion.
  played.plays.set(
    '/ari/*',
    withJson({ suggestedWindow: { start: '2000-01-01T00:00:00Z', end: '2000-01-02T00:00:00Z' } }),
  );
  assert.equal((await authority.issue(account, ordered())).renewAt, null);
  played.plays.set('/ari/*', (_, response) => void response.writeHead(500).end());
  assert.equal((await authority.issue(account, ordered())).renewAt, null);
});

test('a renewal says which certificate it replaces, where the authority wants to know', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  const { cert } = await played.ca.issue({ names: [NAME], serial: '87654321' });
  const told = (): unknown[] =>
    played.asked
      .splice(0)
      .filter(({ path }) => path === '/orders')
      .map(({ payload }) => payload['replaces']);
  await authority.issue(account, ordered({ replaces: cert }));
  assert.deepEqual(told(), [RFC_ID]);
  await authority.issue(account, ordered({ replaces: 'broken' }));
  assert.deepEqual(told(), [undefined]);
  // Replaced already, it says: then it is a new order.
  played.plays.set('/orders', (_, response) => {
    played.plays.delete('/orders');
    sendProblem(response, { status: 409, type: 'alreadyReplaced', detail: 'by another' });
  });
  await authority.issue(account, ordered({ replaces: cert }));
  assert.deepEqual(told(), [RFC_ID, undefined]);
  played.plays.set('/orders', (_, response) => sendProblem(response, { status: 429, type: 'rateLimited', detail: '' }));
  assert.equal((await failureOf(authority.issue(account, ordered({ replaces: cert })))).code, 'rateLimited');
  assert.deepEqual(told(), [RFC_ID]);
});
