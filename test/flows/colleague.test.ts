/** A colleague is invited, publishes something, and is sent away: with real mail, a real agent and a real visitor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Account, startCulvert, startOrigin } from '../harness.ts';
import { smtpSettings, startSmtp } from '../harness/smtp.ts';

const BOB = { email: 'bob@example.test', password: 'correct horse battery staple' };

test('the agents of a colleague who is removed are cut off at once, and those of others go on', async (t) => {
  const smtp = await startSmtp(t);
  const culvert = await startCulvert(t, smtpSettings(smtp));
  const { account: owner } = culvert;
  const apiUrl = owner.apiUrl;
  const me = await owner.call('GET', '/auth/me');
  const org = (me.body['active_org'] as { id: string }).id;

  assert.equal(
    (await owner.call('POST', `/orgs/${org}/invitations`, { email: BOB.email, role: 'member' })).status,
    201,
  );
  const invitation = await smtp.nextMail(BOB.email);
  assert.ok(invitation.link?.startsWith(`${apiUrl}/app/invite?token=`), String(invitation.link));
  const stranger = new Account(apiUrl, '');
  assert.equal((await stranger.call('POST', '/auth/signup', BOB)).status, 201);
  const { code } = await smtp.nextMail(BOB.email);
  assert.equal((await stranger.call('POST', '/auth/verify-email-otp', { email: BOB.email, code })).status, 200);
  const alone = await Account.logIn(apiUrl, BOB.email, BOB.password);
  const joined = await alone.call('POST', '/orgs/invitations/accept', { token: invitation.token });
  assert.deepEqual([joined.status, joined.body['id'], joined.body['role']], [200, org, 'member']);
  const switched = await alone.call('POST', '/auth/switch-org', { org_id: org });
  const bob = new Account(apiUrl, String(switched.body['access_token']));

  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const bobs = await culvert.publish('http', origin.port, { subdomain: 'bobs', token: await bob.mint() });
  const owners = await culvert.publish('http', origin.port, { subdomain: 'owners' });
  for (const { url } of [bobs, owners]) assert.equal((await culvert.get(url)).body, 'hello');

  const bobsId = ((await bob.call('GET', '/auth/me')).body['user'] as { id: string }).id;
  const removed = await owner.call('DELETE', `/orgs/${org}/members/${bobsId}`);
  assert.deepEqual([removed.status, removed.body], [200, { success: true, revoked_tokens: 1 }]);

  await bobs.agent.done;
  const end = bobs.events.at(-1);
  assert.ok(end?.kind === 'stopped', JSON.stringify(end));
  assert.equal(end.reason.code, 3, 'not authorized: it does not try again');
  assert.match(end.reason.message, /bob@example\.test/);
  assert.equal((await culvert.get(bobs.url)).status, 503);
  assert.equal((await culvert.get(owners.url)).body, 'hello');
  assert.equal((await bob.call('GET', '/tunnels')).status, 401);
});
