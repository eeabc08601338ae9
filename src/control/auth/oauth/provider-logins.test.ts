/** Log-ins by identity provider on a clock that the test moves, and what they write to the log. */
import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { Logger } from '../../../base/log.ts';
import { messageOf } from '../../../base/errors.ts';
import { auditEvents, identities, outgoingMails } from '../../db/schema.ts';
import { Secret } from '../../../base/secret.ts';
import { GithubProvider } from '../../providers/github.ts';
import { Challenges } from '../sessions/challenges.ts';
import { STATE_SECONDS } from './login-state.ts';
import { SignUpMemory } from '../accounts/sign-up-memory.ts';
import { ProviderLogins } from './provider-logins.ts';
import { codeAt, wrongCode } from '../../../../test/harness/authenticator.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../../../../test/harness/github.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';

const ends = inReverse({ after });
let plane: Plane;
let github: Github;
let logins: ProviderLogins;
let challenges: Challenges;
let lines: string[];

beforeEach(async () => {
  plane = new Plane();
  github = await startGithub(ends);
  github.current = githubPerson(1, 'ann@example.test');
  lines = [];
  const keep = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { error: keep, warn: keep, info: keep, debug: keep, child: () => log };
  const { store, sealer, outbox, sessions, keys } = plane.control;
  challenges = new Challenges({ keys, sealer, clock: plane.clock, issuer: () => 'http://api.test' });
  logins = new ProviderLogins({
    store,
    sealer,
    outbox,
    sessions,
    challenges,
    signUps: new SignUpMemory(),
    providers: {
      google: null,
      github: new GithubProvider({
        clientId: 'Iv1.test',
        clientSecret: new Secret('github-secret-0123'),
        authorizeUrl: `${github.url}/login/oauth/authorize`,
        tokenUrl: `${github.url}/login/oauth/access_token`,
        apiUrl: `${github.url}/api`,
      }),
    },
    newOrg: { plan: 'free', approval: 'pending' },
    settings: () => ({ name: null, signup: 'open', mail: { transport: 'log' } }),
    apiUrl: () => 'http://api.test',
    log,
  });
});
afterEach(() => plane.close());

/** What the browser has after the provider: cookie and answer. */
async function upToAnswer() {
  const { location, sealed } = await logins.start('github', '/app/');
  const back = (await fetch(location, { redirect: 'manual' })).headers.get('location') ?? '';
  return { sealed, answer: new URL(back).searchParams };
}

test('a log-in may take ten minutes, and no longer', async () => {
  const shown = await upToAnswer();
  plane.now += STATE_SECONDS * 1000 - 1;
  assert.match((await logins.finish('github', shown, VISIT)).location, /oauth_token=/);
  const late = await upToAnswer();
  plane.now += STATE_SECONDS * 1000;
  await assert.rejects(logins.finish('github', late, VISIT), { code: 'invalid_request' });
});

test('a new account starts with what the settings say about organizations', async () => {
  const { location } = await logins.finish('github', await upToAnswer(), VISIT);
  const token = new URL(location).searchParams.get('oauth_token') ?? '';
  const actor = await plane.control.sessions.authenticate(token, '192.0.2.1');
  assert.equal(actor?.approval, 'pending');
  assert.deepEqual([actor?.role, actor?.superadmin], ['owner', false]);
});

test('twenty tabs that come back at once with the same new person make one account', async () => {
  const shown = await Promise.all(Array.from({ length: 20 }, upToAnswer));
  const done = await Promise.all(shown.map((one) => logins.finish('github', one, VISIT)));
  const people = new Set<string>();
  for (const { location } of done) {
    const token = new URL(location).searchParams.get('oauth_token') ?? '';
    people.add((await plane.control.sessions.authenticate(token, ''))?.userId ?? 'none');
  }
  assert.equal(people.size, 1);
  assert.ok(!people.has('none'));
});

test('the log says why a provider refused, without code, token or secret', async () => {
  const { sealed, answer } = await upToAnswer();
  const code = answer.get('code') ?? '';
  answer.set('code', `${code}x`);
  await assert.rejects(logins.finish('github', { sealed, answer }, VISIT), { code: 'invalid_request' });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /bad_verification_code/);
  for (const secret of [code, answer.get('state') ?? '', 'github-secret-0123', sealed]) {
    assert.ok(!lines.join().includes(secret));
  }
});

test('an account that cannot be reached names no token in its cause either', async () => {
  github.instead.set('/api/user', (response) => response.writeHead(500).end('gho_secret'));
  const shown = await upToAnswer();
  await assert.rejects(logins.finish('github', shown, VISIT), (error: Error & { code: string }) => {
    assert.equal(error.code, 'unavailable');
    assert.match(messageOf(error.cause), /\/api\/user responded with 500/);
    assert.ok(!messageOf(error.cause).includes('gho_'));
    return true;
  });
});

test('provider login: the name of a user at the provider is stored as one short line', async () => {
  github.current = githubPerson(1, 'ann@example.test', { name: `Ann\r\nBcc: x@y\u0000${'n'.repeat(300)}` });
  const { location } = await logins.finish('github', await upToAnswer(), VISIT);
  const token = new URL(location).searchParams.get('oauth_token') ?? '';
  const actor = await plane.control.sessions.authenticate(token, '');
  assert.ok(actor !== undefined);
  const { user } = plane.control.sessions.summary(actor);
  assert.equal(user.name.length, 100);
  assert.ok(user.name.startsWith('Ann Bcc: x@y nnn'));
});

/** An account with a second factor, and what an authenticator app shows for it once its first code is used up. */
async function withFactor(email: string) {
  const actor = await plane.person(email);
  const { secret } = plane.control.mfa.enroll(actor);
  const [recoveryCode = ''] = plane.control.mfa.confirm(actor, codeAt(secret, plane.now));
  plane.now += 30_000;
  return { actor, secret, recoveryCode };
}
const rows = () => plane.control.store.db.select().from(identities).all();
const told = (kind: string): number =>
  plane.control.store.db
    .select()
    .from(outgoingMails)
    .all()
    .filter((row) => plane.control.outbox.open(row).kind === kind).length;
const links = (): number =>
  plane.control.store.db
    .select()
    .from(auditEvents)
    .all()
    .filter(({ action }) => action === 'auth.identity_link').length;
async function challenged(): Promise<string> {
  const { location, refreshToken } = await logins.finish('github', await upToAnswer(), VISIT);
  assert.equal(refreshToken, undefined);
  const challenge = new URL(location).searchParams.get('mfa_challenge');
  assert.ok(challenge !== null, location);
  return challenge;
}
const complete = (challengeToken: string, proof: { code: string } | { recoveryCode: string }) =>
  plane.control.mfaLogin.complete({ challengeToken, proof }, VISIT);

test('an identity is added to an account with a second factor once that was shown, and nothing is stored or told before', async () => {
  const { actor, secret } = await withFactor('ann@example.test');
  const challengeToken = await challenged();
  await assert.rejects(complete(challengeToken, { code: wrongCode(secret, plane.now) }), { code: 'unauthorized' });
  assert.deepEqual([rows(), links(), told('identity_linked')], [[], 0, 0]);
  const done = await complete(challengeToken, { code: codeAt(secret, plane.now) });
  assert.equal(done.user.id, actor.userId);
  assert.deepEqual(
    rows().map(({ userId, provider, subject, email }) => [userId, provider, subject, email]),
    [[actor.userId, 'github', '1', 'ann@example.test']],
  );
  assert.deepEqual([links(), told('identity_linked')], [1, 1]);
  assert.equal((await challenges.read(await challenged()))?.link, undefined, 'it is known from then on');
});

test('what a challenge adds can not be read in it', async () => {
  await withFactor('ann@example.test');
  const [, payload = ''] = (await challenged()).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'link', 'pwd', 'sub']);
  assert.doesNotMatch(JSON.stringify(claims), /ann@|example\.test|github/i);
});

test('two tabs with the same new identity add it once; both are logged in', async () => {
  const { secret, recoveryCode } = await withFactor('ann@example.test');
  const tabs = [await challenged(), await challenged()] as const;
  await complete(tabs[0], { code: codeAt(secret, plane.now) });
  await complete(tabs[1], { recoveryCode });
  assert.deepEqual([rows().length, links(), told('identity_linked')], [1, 1, 1]);
});

test('an identity that has gone to another account meanwhile opens nothing, and uses nothing up', async () => {
  const { secret } = await withFactor('ann@example.test');
  const challengeToken = await challenged();
  github.current = githubPerson(1, 'bob@example.test');
  await logins.finish('github', await upToAnswer(), VISIT);
  const code = codeAt(secret, plane.now);
  await assert.rejects(complete(challengeToken, { code }), { code: 'unauthorized' });
  assert.equal(rows().length, 1);
  github.current = githubPerson(2, 'ann@example.test');
  await complete(await challenged(), { code });
  assert.equal(rows().length, 2);
});

test('provider login: a locked user is refused, without a prompt for the second factor', async () => {
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
  await logins.finish('github', await upToAnswer(), VISIT);
  plane.control.operatorUsers.lock(operator, 'ann@example.test');
  const refused = { code: 'forbidden', message: /locked/ };
  await assert.rejects(logins.finish('github', await upToAnswer(), VISIT), refused);
  // Another identity with the address of a locked account.
  github.current = githubPerson(2, 'ann@example.test');
  await assert.rejects(logins.finish('github', await upToAnswer(), VISIT), refused);
  assert.equal(plane.control.store.db.select().from(identities).all().length, 1);
});
